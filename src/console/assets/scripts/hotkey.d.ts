/** The library as it is served beside our scripts. */
export { install } from '@github/hotkey';
