// Global set-up has compiled the project before the first worker starts.
module.exports = require('../../.cache/compiled/test/support/test-runner.js');
