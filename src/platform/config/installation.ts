/** The rule of `INSTALLATION`: a part of the name of every key in Redis, and a label of metrics. */
export const INSTALLATION_NAME = /^[a-z0-9-]{1,32}$/;

/**
 * The name of the installation that this process serves, all its life. Installations on one Redis share nothing. A name
 * that breaks the rule is refused with the rest of the configuration, before Redis is reached.
 */
export const INSTALLATION = process.env['INSTALLATION']?.trim() || 'main';
