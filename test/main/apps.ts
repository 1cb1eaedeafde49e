import { startApp, type App, type AppOptions, type AppRole } from '../support/app';

export interface Apps {
  readonly start: (role: AppRole, options?: Partial<AppOptions>) => Promise<App>;
  /** Stops a process before its test ends. */
  readonly stop: (app: App) => Promise<void>;
}

/** Starts processes for the tests of a file. All that still run after a test are stopped. */
export function useApps(redis: { readonly url: string }): Apps {
  const apps = new Set<App>();
  afterEach(async () => {
    const running = [...apps];
    apps.clear();
    await Promise.all(running.map((app) => app.stop()));
  });
  return {
    async start(role, options = {}) {
      const app = await startApp({ redisUrl: redis.url, role, ...options });
      apps.add(app);
      return app;
    },
    async stop(app) {
      apps.delete(app);
      await app.stop();
    },
  };
}
