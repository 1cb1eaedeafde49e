import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { jsonObject } from '../contracts/common';
import { ROUTES } from '../contracts/operator-routes';
import type { Route } from '../contracts/routes/route';
import type { JsonObject } from '../domain/vocabulary';
import { printableJson } from './terminal';
import { addCommand, option, type CommandOutput, type CommandTools, type Invocation } from './command';
import { UsageError } from './problems';

/** `towhook api`: any route by its method and path. */
export function addApi(program: Command, tools: CommandTools): void {
  addCommand(program, tools, {
    usage: 'api <method> <path>',
    summary: 'call a route of the operator API, and print its answer as JSON',
    options: [option('--data <json>', 'the body, a JSON object; - reads it from standard input')],
    examples: [
      'towhook api GET "/api/tows?state=started"',
      'towhook api POST /api/queues/reports/pause --data \'{"reason": "deploying"}\'',
    ],
    changes: true,
    run,
  });
}

async function run(call: Invocation): Promise<CommandOutput> {
  const method = call.argument(0).toLowerCase();
  if (!URL.canParse(call.argument(1), 'http://console')) throw noRoute();
  const { pathname, search } = new URL(call.argument(1), 'http://console');
  const route = Object.values<Route>(ROUTES).find(
    (known) => known.method === method && patternOf(known).test(pathname),
  );
  if (route === undefined) throw noRoute();
  if (route.takes === 'form' || route.gives === 'image') {
    throw new UsageError([{ field: 'path', rule: `takes or gives images: use towhook ${route.command}` }]);
  }
  const given = call.text('data');
  if (given !== undefined && route.body === undefined) {
    throw new UsageError([{ field: '--data', rule: 'is not taken by this route' }]);
  }
  const body = given === undefined ? {} : { body: objectIn(given === '-' ? await text(process.stdin) : given) };
  const called: Route = { ...route, path: `${pathname.replaceAll(':', '%3A')}${search}` };
  const answer = await call.client.call(called, { key: call.key, ...body });
  const json = answer instanceof Response ? { [route.gives ?? 'text']: await answer.text() } : answer;
  return { json, lines: printableJson(json, 2).split('\n') };
}

const noRoute = () => new UsageError([{ field: 'path', rule: 'must be a route of the operator API' }]);

function patternOf({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
}

function objectIn(given: string): JsonObject {
  try {
    return jsonObject.parse(JSON.parse(given));
  } catch {
    throw new UsageError([{ field: '--data', rule: 'must be a JSON object' }]);
  }
}
