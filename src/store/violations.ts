import type { Redis } from 'ioredis';
import { violationRecord, type ViolationRecord } from '../contracts/violations';
import { wordTerm } from '../domain/search';
import { dependsOnTicket, metadataIdOf, type Violation } from '../domain/violation';
import { beforeCorrectionTask } from '../domain/violation-tasks';
import type { Act, Page, Remember, RememberAnswer } from '../workflow/ports';
import type { JoiningTow, ViolationDecision, ViolationFilter, ViolationStore } from '../workflow/violation-port';
import { KEYS, violationKey, violationKeys, violationsInStateKey } from './keys';
import { search } from './list-tows';
import { joinedKind, linkedKind } from '../contracts/replies';
import { texts } from './parse';
import { newestFirst } from './rows';
import { savedOf } from './saved';
import { generalTaskJson } from './tows';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const createViolation = new Script('create-violation');
const decideViolation = new Script('decide-violation');
const joinViolation = new Script('join-violation');
const linkViolation = new Script('link-violation');

/** The violations in Redis. Every write is one script; see the headers in lua/. */
export function createViolationStore(redis: Redis): ViolationStore {
  const readById = async (id: string) => violationRecordOf(await redis.hgetall(violationKey(id)));
  const idOf = (name: string, index: string) => redis.hget(index, name);
  const readNamed = async (name: string, index: string) => {
    const id = await idOf(name, index);
    return id === null ? null : readById(id);
  };
  return {
    read: (name) => readNamed(name, KEYS.violationAliases),

    list: (filter) => listViolations(redis, filter, readById),

    create: (violation, { searchTerms }, act) => create(redis, { violation, searchTerms, act }),

    async find({ reference, metadataId }) {
      const byReference = await readNamed(reference, KEYS.violationReferences);
      if (byReference || metadataId === null) return byReference;
      return readNamed(metadataId, KEYS.violationAliases);
    },

    decide: (before, decision, remember) => decide(redis, { before, decision, remember }),

    async joined(id, tow) {
      const reply = await joinViolation.run(redis, violationKeys(id), [id, joiningJson(id, tow)]);
      const [first, shownAs = ''] = texts(reply, 'join-violation');
      const kind = joinedKind.parse(first);
      return kind === 'joined' ? { kind, shownAs } : { kind };
    },

    async linked(id, tow, before) {
      const args = [id, joiningJson(id, tow), before ?? ''];
      return linkedKind.parse(await linkViolation.run(redis, violationKeys(id), args));
    },
  };
}

function joiningJson(id: string, { towingReference, reference }: JoiningTow): string {
  const task = beforeCorrectionTask(id);
  return wellFormedJson({
    towing_reference: towingReference,
    reference,
    terms: [wordTerm(reference), wordTerm(towingReference)],
    correction_task: { id: task.subject, json: generalTaskJson(task) },
  });
}

/** A stored violation; null when there is none. */
export function violationRecordOf(hash: Readonly<Record<string, string>>): ViolationRecord | null {
  return hash['document'] === undefined ? null : violationRecord.parse(hash);
}

async function create(
  redis: Redis,
  { violation, searchTerms, act }: { violation: Violation; searchTerms: readonly string[]; act: Act<RememberAnswer> },
): ReturnType<ViolationStore['create']> {
  const { audit, remember } = act;
  const reply = await createViolation.run(
    redis,
    violationKeys(violation.id, remember ? { idempotencyScope: remember.scope } : {}),
    [
      violation.id,
      JSON.stringify(violation),
      metadataIdOf(violation),
      wellFormedJson(searchTerms),
      isProvable(violation),
      isTicketQuestion(violation),
      remember?.fingerprint ?? '',
      remember?.answer ?? '',
      wellFormedJson(audit),
    ],
  );
  const [first] = texts(reply, 'create-violation');
  return first === 'alias_taken' || first === 'alias_of_waived' ? { kind: first } : savedOf(reply, 'create-violation');
}

async function decide(
  redis: Redis,
  {
    before: { violation, version },
    decision,
    remember,
  }: { before: ViolationRecord; decision: ViolationDecision; remember: Remember | undefined },
): ReturnType<ViolationStore['decide']> {
  const { action, audit } = decision;
  const corrected = action === 'correct' ? decision.violation : null;
  const reference = action === 'accept' ? decision.reference : null;
  const changes = {
    document: corrected ? JSON.stringify(corrected) : '',
    depends_on_ticket: isTicketQuestion(corrected ?? violation),
    reason: action === 'waive' || action === 'accept' ? decision.reason : '',
    reference: reference ?? '',
    terms: [
      ...(action === 'correct' ? decision.searchTerms : []),
      ...(reference === null ? [] : [wordTerm(reference)]),
    ],
    audit: wellFormedJson(audit),
  };
  const keys = violationKeys(violation.id, remember ? { idempotencyScope: remember.scope } : {});
  const args = [violation.id, version, action, wellFormedJson(changes), remember?.fingerprint ?? ''];
  const reply = await decideViolation.run(redis, keys, args);
  const [first] = texts(reply, 'decide-violation');
  return first === 'reference_taken' ? { kind: first } : savedOf(reply, 'decide-violation');
}

/** A tow request echoes the metadata, and the guide form carries none. */
function isProvable({ api }: Violation): 0 | 1 {
  return api === 'reference' ? 1 : 0;
}

function isTicketQuestion({ form }: Violation): 0 | 1 {
  return dependsOnTicket(form) ? 1 : 0;
}

/** A page of violations, newest first; with a search, by the words it found them under. */
async function listViolations(
  redis: Redis,
  filter: ViolationFilter,
  read: (id: string) => Promise<ViolationRecord | null>,
): Promise<Page<ViolationRecord>> {
  const index = filter.state ? violationsInStateKey(filter.state) : KEYS.indexViolations;
  const { refs: ids, nextCursor } = filter.search
    ? await search(redis, KEYS.searchViolations, { ...filter, words: filter.search })
    : await newestFirst(redis, index, filter);
  const records = await Promise.all(ids.map(read));
  const isWanted = (record: ViolationRecord) => filter.state === null || record.state === filter.state;
  return { items: records.filter((record) => record !== null).filter(isWanted), nextCursor };
}
