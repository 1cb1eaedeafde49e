import { signingKeysIn } from './variables';

const MIN_CHARACTERS = 24;
/** Standard Webhooks asks for 24 to 64 bytes. */
const MIN_BYTES = 24;

const TEXTS = ['BOOTSTRAP_API_KEY', 'WEBHOOK_SHARED_SECRET'];
const SIGNING = ['WEBHOOK_SECRETS', 'WEBHOOK_SECRETS_TOW_REQUEST', 'WEBHOOK_SECRETS_TOW_INVOICE'];

const WHEN = 'when NODE_ENV is production';
const TEXT_RULE = `must have at least ${MIN_CHARACTERS} characters ${WHEN}`;
const SIGNING_RULE = `must hold secrets of at least ${MIN_BYTES} bytes (32 characters after whsec_) ${WHEN}`;

/** Secrets short enough to be guessed; none outside production. Values that break another rule are skipped. */
export function weakSecrets(env: Readonly<Record<string, string | undefined>>): { variable: string; rule: string }[] {
  if (env['NODE_ENV'] !== 'production') return [];
  return [
    ...TEXTS.filter((variable) => isShort(env[variable])).map((variable) => ({ variable, rule: TEXT_RULE })),
    ...SIGNING.filter((variable) => hasShortKey(env[variable])).map((variable) => ({ variable, rule: SIGNING_RULE })),
  ];
}

function isShort(text: string | undefined): boolean {
  return text !== undefined && text.length < MIN_CHARACTERS;
}

function hasShortKey(secrets = ''): boolean {
  return signingKeysIn(secrets).some((key) => key.length < MIN_BYTES);
}
