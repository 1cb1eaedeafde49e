import { errorCode, errorMessage } from '../platform/errors';

const MAKE_ROOM = 'make room on the disk of DATA_DIR, and run the command again';
const OTHER_USER = 'run the command again as the user of the roles, or as root';

/** What to do when the disk refuses, by the code of the error. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', MAKE_ROOM],
  ['EDQUOT', MAKE_ROOM],
  ['EACCES', OTHER_USER],
  ['EPERM', OTHER_USER],
  ['EROFS', 'mount DATA_DIR with the permission to write, and run the command again'],
  ['EXDEV', 'mount the folders of DATA_DIR as one disk, and run the command again'],
]);

/** The problem that ended `towhook reseal`. Names the remedy if the disk refused; files are replaced as a whole or not. */
export function resealProblem(error: unknown): string {
  const remedy = REMEDIES.get(errorCode(error) ?? '');
  return remedy === undefined ? errorMessage(error) : `${errorMessage(error)}. No data is lost: ${remedy}.`;
}
