import { OPERATIONS, type OperationName } from '../../src/contracts/operations';
import { forward, startProxy } from './proxy';

/** A proxy in front of the service that withholds the answers of one operation. */
export interface HeldAnswers {
  /** The address to use in place of the service's. */
  readonly url: string;
  /** Passes on the withheld answers and all later ones. */
  release(): void;
}

/**
 * Starts a proxy that forwards every request at once and withholds the answers of `operation` until `release`. The
 * proxy ends with the test.
 */
export async function holdAnswers(serviceUrl: string, operation: OperationName): Promise<HeldAnswers> {
  const { path } = OPERATIONS[operation];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const url = await startProxy((incoming, response) => {
    const isHeld = incoming.url?.endsWith(path) === true;
    forward(serviceUrl, [incoming, response], isHeld ? released : null);
  });
  return { url, release: () => release() };
}
