/** What a test file may change in the process it runs in: globals and environment variables. */
export interface BeforeFile {
  readonly globals: ReadonlyMap<PropertyKey, PropertyDescriptor>;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** `process.exit`, which jest replaces for each test file. */
  readonly exit: PropertyDescriptor;
}

export function stateOfProcess(): BeforeFile {
  const globals = new Map(Reflect.ownKeys(globalThis).map((name) => [name, descriptorOf(globalThis, name)]));
  return { globals, environment: { ...process.env }, exit: descriptorOf(process, 'exit') };
}

/** Undoes what was added, changed or removed since `stateOfProcess`. */
export function restoreProcess({ globals, environment, exit }: BeforeFile): void {
  for (const name of Reflect.ownKeys(globalThis)) if (!globals.has(name)) Reflect.deleteProperty(globalThis, name);
  for (const [name, descriptor] of globals) Reflect.defineProperty(globalThis, name, descriptor);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  Reflect.defineProperty(process, 'exit', exit);
}

function descriptorOf(owner: object, name: PropertyKey): PropertyDescriptor {
  const descriptor = Reflect.getOwnPropertyDescriptor(owner, name);
  if (descriptor === undefined) throw new Error(`there is no ${String(name)}`);
  return descriptor;
}
