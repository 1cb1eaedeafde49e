#!/usr/bin/env node
'use strict';
// The command `towhook`: the sources as they are, whatever folder it is called from.
require('tsx/cjs');
require('./towhook.ts');
