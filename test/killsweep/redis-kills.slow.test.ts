import { proveRedisKills } from './redis-kills';

proveRedisKills({ reads: false });
