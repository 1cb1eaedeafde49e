const { statSync } = require('node:fs');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * The members of jest-runtime 30 that are used or replaced here. All are private.
 *
 * @typedef {object} TransformCache
 * @property {(filename: string, options?: object) => string} transform
 * @property {Map<string, unknown>} transforms Details of each transformed file.
 * @property {Map<string, string>} sourceMaps The path of its source map.
 *
 * @typedef {object} ModuleExecutor
 * @property {(module: NodeJS.Module, options?: { isInternalModule?: boolean }, ...rest: unknown[]) => string} exec
 *   Runs a module.
 * @property {(source: string, filename: string) => Function | null} compile Null: the test file has ended.
 * @property {import('./environment').default} environment
 * @property {string[]} injectedModuleParameters
 */

/**
 * Jest's runtime, except that a worker loads packages and sources once, and not again for each test file. All test files
 * run in the process itself (environment.ts), so Node can load them. Tests and what is in `test/` run once per test file,
 * as ever; a worker transforms and compiles them once.
 *
 * A source therefore must not keep state of its own between two tests. No test mocks a module.
 */
class LoadingOnce extends Runtime {
  /** @param {ConstructorParameters<typeof Runtime>} given */
  constructor(...given) {
    super(...given);
    loadOnce(this);
  }
}

module.exports = LoadingOnce;

/** @param {{ transformCache: TransformCache, executor: ModuleExecutor }} runtime */
function loadOnce({ transformCache, executor }) {
  transformCache.transform = transformingOnce(transformCache);
  executor.compile = compilingOnce(executor);
  executor.exec = loadingOnce(executor);
}

/**
 * @param {ModuleExecutor} executor
 * @returns {ModuleExecutor['exec']}
 */
function loadingOnce(executor) {
  const exec = executor.exec.bind(executor);
  return (module, options, ...rest) => {
    const shared = options?.isInternalModule === true ? null : executor.environment.sharedFile(module.filename);
    if (shared === null) return exec(module, options, ...rest);
    /** @type {unknown} */
    const exported = require(shared);
    module.exports = exported;
    return 'loaded';
  };
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
    if (executor.environment.getVmContext() === null) return null;
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
    const compiled = known.script.runInThisContext();
    return typeof compiled === 'function' ? compiled : null;
  };
}
