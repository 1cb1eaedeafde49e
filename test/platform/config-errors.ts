import { ConfigurationError, loadConfig } from '../../src/platform/config/config';

/** What is wrong with an environment; nothing when it loads. */
export function faultsOf(environment: Readonly<Record<string, string>>): ConfigurationError['faults'] {
  return errorOf(environment)?.faults ?? [];
}

export function errorOf(environment: Readonly<Record<string, string>>): ConfigurationError | null {
  try {
    loadConfig(environment);
    return null;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
