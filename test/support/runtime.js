const { statSync } = require('node:fs');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * The two members of jest-runtime 30 that are replaced here. Both are private.
 *
 * @typedef {object} TransformCache
 * @property {(filename: string, options?: object) => string} transform
 * @property {Map<string, unknown>} transforms Details of each transformed file.
 * @property {Map<string, string>} sourceMaps The path of its source map.
 *
 * @typedef {object} ModuleExecutor
 * @property {(source: string, filename: string) => Function | null} compile Null: the context of the test file has ended.
 * @property {{ getVmContext(): import('node:vm').Context | null }} environment
 * @property {string[]} injectedModuleParameters
 */

/**
 * Jest's runtime, except that a worker transforms and compiles a module once. Jest does both again for each test file,
 * though they all import the same few hundred modules: it took a sixth of the time of all tests. A module still runs
 * once per test file, in the context of that file.
 */
class CompilingOnce extends Runtime {
  /** @param {ConstructorParameters<typeof Runtime>} given */
  constructor(...given) {
    super(...given);
    compileOnce(this);
  }
}

module.exports = CompilingOnce;

/** @param {{ transformCache: TransformCache, executor: ModuleExecutor }} runtime */
function compileOnce({ transformCache, executor }) {
  transformCache.transform = transformingOnce(transformCache);
  executor.compile = compilingOnce(executor);
}

/** @type {Map<string, { version: string, code: string, details: unknown, sourceMap: string | undefined }>} */
const transformedFiles = new Map();

/**
 * @param {TransformCache} cache
 * @returns {TransformCache['transform']}
 */
function transformingOnce(cache) {
  const transform = cache.transform.bind(cache);
  return (filename, options) => {
    const key = JSON.stringify([filename, options]);
    const { mtimeMs, size } = statSync(filename);
    // In watch mode a file changes while the process lives.
    const version = `${mtimeMs} ${size}`;
    const known = transformedFiles.get(key);
    if (known?.version !== version) {
      const code = transform(filename, options);
      const details = cache.transforms.get(filename);
      transformedFiles.set(key, { version, code, details, sourceMap: cache.sourceMaps.get(filename) });
      return code;
    }
    if (known.details !== undefined) cache.transforms.set(filename, known.details);
    if (known.sourceMap !== undefined) cache.sourceMaps.set(filename, known.sourceMap);
    return known.code;
  };
}

/** @type {Map<string, { source: string, script: Script }>} */
const scripts = new Map();

/**
 * @param {ModuleExecutor} executor
 * @returns {ModuleExecutor['compile']}
 */
function compilingOnce(executor) {
  const compile = executor.compile.bind(executor);
  const head = `(function (${executor.injectedModuleParameters.join(', ')}) {`;
  return (source, filename) => {
    const context = executor.environment.getVmContext();
    if (context === null) return null;
    let known = scripts.get(filename);
    if (known?.source !== source) {
      try {
        known = { source, script: new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length }) };
      } catch {
        // Jest explains what is wrong with the source.
        return compile(source, filename);
      }
      scripts.set(filename, known);
    }
    /** @type {unknown} */
    const compiled = known.script.runInContext(context);
    return typeof compiled === 'function' ? compiled : null;
  };
}
