import type { Backups } from '../cli';
import { withInstallation, type InstallationOptions } from './installation';
import { restoreBackup } from './restore';
import { takeBackup } from './take';

/** Backup and restore of the installation of an environment, that of the process by default. */
export function createBackups(options: InstallationOptions): Backups {
  return {
    take: (folder) => withInstallation(options, (installation) => takeBackup(folder, installation)),
    restore: (request) => withInstallation(options, (installation) => restoreBackup(request, installation)),
  };
}
