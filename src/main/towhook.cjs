#!/usr/bin/env node
'use strict';
// The command `towhook` of the package and of the image; `npm run towhook` is the same from the sources.
// `towhook demo` and `towhook start <role>` are the programs behind `npm run demo` and `npm start -- <role>`.
const word = process.argv[2];
const program = word === 'demo' ? 'demo/index' : word === 'start' ? 'main/index' : 'main/towhook';
if (program !== 'main/towhook') process.argv.splice(2, 1);
require(`../${program}.js`);
