#!/usr/bin/env node
'use strict';
// The command `towhook`: from the sources in a checkout, from their compiled copy in the published package.
// `towhook demo` and `towhook start <role>` are the programs behind `npm run demo` and `npm start -- <role>`.
const fs = require('node:fs');

const word = process.argv[2];
const program = word === 'demo' ? 'demo/index' : word === 'start' ? 'main/index' : 'main/towhook';
if (program !== 'main/towhook') process.argv.splice(2, 1);
const source = `${__dirname}/../${program}.ts`;
if (fs.existsSync(source)) {
  // As in platform/process-defaults.ts, which is too late after tsx.
  process.env.UV_THREADPOOL_SIZE ??= '16';
  require('tsx/cjs');
  require(source);
} else {
  require(`${__dirname}/../../dist/src/${program}.js`);
}
