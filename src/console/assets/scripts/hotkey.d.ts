/** The library is served beside the scripts of the console. */
export { install } from '@github/hotkey';
