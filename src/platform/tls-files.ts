import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { ConfigurationError, type TlsFiles } from './config/config';
import { errorCode } from './errors';
import { readTextNow } from './config/secret-files';

/** What the variables of the files of one connection begin with. */
export type TlsPrefix = 'SERVICE' | 'REDIS' | 'OIDC';

/**
 * Reads the files that the variables `<prefix>_CA_FILE`, `_CLIENT_CERT_FILE` and `_CLIENT_KEY_FILE` name. One context
 * serves all connections, because each new one reads all authorities again. Null: those of Node, and no certificate.
 *
 * @throws ConfigurationError that names the variable of a file that cannot be used.
 */
export function openSecureContext(
  { caFile, clientCertFile, clientKeyFile }: TlsFiles,
  prefix: TlsPrefix,
): SecureContext | null {
  if (caFile === null && clientCertFile === null) return null;
  const [caName, certName, keyName] = [`${prefix}_CA_FILE`, `${prefix}_CLIENT_CERT_FILE`, `${prefix}_CLIENT_KEY_FILE`];
  const own = caFile === null ? [] : [authoritiesIn(caName, caFile)];
  const cert = clientCertFile === null ? undefined : checked(certName, clientCertFile, 'CERTIFICATE');
  const key = clientKeyFile === null ? undefined : checked(keyName, clientKeyFile, 'PRIVATE KEY');
  // One after the other, so that the fault names the file that is wrong.
  contextOr(certName, 'holds a certificate that cannot be read', { cert });
  contextOr(keyName, `holds no key of the certificate in ${certName}`, { cert, key });
  return createSecureContext({ ca: [...defaultAuthorities(), ...own], cert, key });
}

/**
 * The text of the PEM file of authorities that `variable` names.
 *
 * @throws ConfigurationError that names the variable and why the file cannot be used.
 */
export function authoritiesIn(variable: string, file: string): string {
  const pem = checked(variable, file, 'CERTIFICATE');
  contextOr(variable, 'holds a certificate that cannot be read', { ca: [pem] });
  return pem;
}

/** The authorities that Node trusts by default. The list of a context replaces them, so it has to repeat them. */
export function defaultAuthorities(): readonly string[] {
  // `rootCertificates` is without this file. Node warns at the start if it cannot be read, and goes on.
  const extra = readTextNow(process.env['NODE_EXTRA_CA_CERTS'] ?? '');
  return extra === null ? rootCertificates : [...rootCertificates, extra];
}

function contextOr(variable: string, rule: string, parts: Parameters<typeof createSecureContext>[0]): void {
  try {
    createSecureContext(parts);
  } catch {
    // The text of the error may repeat parts of a key.
    throw new ConfigurationError([{ variable, rule }]);
  }
}

/** The text of a PEM file that has a block of this kind. */
function checked(variable: string, file: string, block: string): string {
  const text = textOf(variable, file);
  if (new RegExp(`-----BEGIN [A-Z ]*${block}-----`).test(text)) return text;
  throw new ConfigurationError([{ variable, rule: `names a file without a PEM block "${block}"` }]);
}

function textOf(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError([
      { variable, rule: `names a file that cannot be read (${errorCode(error) ?? 'failed'})` },
    ]);
  }
}
