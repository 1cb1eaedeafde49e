/** With one worker jest runs the test files in its own process, which has the resources then. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.workerResources?.stop();
}
