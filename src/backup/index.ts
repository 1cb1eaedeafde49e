import type { Backups } from '../cli';
import { explained } from './failure';
import { withInstallation, type InstallationOptions } from './installation';
import { restoreBackup } from './restore';
import { takeBackup } from './take';

/** Backup and restore of the installation of an environment, that of the process by default. */
export function createBackups(options: InstallationOptions): Backups {
  return {
    take: (folder) =>
      withInstallation(options, (installation) =>
        explained(takeBackup(folder, installation), { kind: 'backup', folder, dataDir: installation.config.dataDir }),
      ),
    restore: (request) =>
      withInstallation(options, (installation) => {
        const kind = request.verifies ? 'verification' : 'preparation';
        return explained(restoreBackup(request, installation), {
          kind,
          folder: request.folder,
          dataDir: installation.config.dataDir,
        });
      }),
  };
}
