// Written by `npm run generate` from en.json. Do not edit.
import type { Child } from 'hono/jsx';
import type en from './en.json';

export type Catalogue = typeof en;

/** A message with arguments. */
export interface Message<V> {
  (values: V): string;
  /** The message with elements in place of some arguments. The translator chooses their places. */
  rich(values: { readonly [Name in keyof V]: V[Name] | Child }): Child;
}

/** Makes the function that formats a message with the values of its arguments. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- V names the arguments of the message.
type Bind = <V extends Readonly<Record<string, string | number>>>(text: string) => Message<V>;

/** The catalogue with a function in place of each message that has arguments. */
export function bindMessages(catalogue: Catalogue, bind: Bind) {
  return {
    ...catalogue,
    attempts: {
      ...catalogue.attempts,
      count: bind<{ readonly count: number }>(catalogue.attempts.count),
      kept: bind<{ readonly kept: number; readonly all: number }>(catalogue.attempts.kept),
      times: bind<{ readonly count: number }>(catalogue.attempts.times),
      lasted: bind<{ readonly ms: string }>(catalogue.attempts.lasted),
    },
    board: {
      ...catalogue.board,
      shown: bind<{ readonly count: number }>(catalogue.board.shown),
      shownOf: bind<{ readonly count: string; readonly total: string }>(catalogue.board.shownOf),
      fresh: bind<{ readonly count: string }>(catalogue.board.fresh),
      tasks: bind<{ readonly count: number }>(catalogue.board.tasks),
      assignOf: bind<{ readonly reference: string }>(catalogue.board.assignOf),
      waits: {
        ...catalogue.board.waits,
        next: bind<{ readonly facts: string }>(catalogue.board.waits.next),
        possible: bind<{ readonly facts: string }>(catalogue.board.waits.possible),
        sending: bind<{ readonly report: string }>(catalogue.board.waits.sending),
        turn: bind<{ readonly report: string }>(catalogue.board.waits.turn),
        first: bind<{ readonly report: string }>(catalogue.board.waits.first),
        again: bind<{ readonly report: string }>(catalogue.board.waits.again),
        proof: bind<{ readonly report: string }>(catalogue.board.waits.proof),
        place: bind<{ readonly place: string; readonly of: string; readonly time: string }>(
          catalogue.board.waits.place,
        ),
        paused: bind<{ readonly report: string }>(catalogue.board.waits.paused),
        refused: bind<{ readonly report: string }>(catalogue.board.waits.refused),
        given_up: bind<{ readonly report: string }>(catalogue.board.waits.given_up),
        unknown: bind<{ readonly report: string }>(catalogue.board.waits.unknown),
      },
      empty: {
        ...catalogue.board.empty,
        noneHint: bind<{ readonly address: string }>(catalogue.board.empty.noneHint),
        search: bind<{ readonly query: string }>(catalogue.board.empty.search),
      },
    },
    runs: {
      ...catalogue.runs,
      deliveriesTitle: bind<{ readonly action: string; readonly count: number }>(catalogue.runs.deliveriesTitle),
      tasksTitle: bind<{ readonly action: string; readonly count: number }>(catalogue.runs.tasksTitle),
      chosen: bind<{ readonly count: string }>(catalogue.runs.chosen),
      choose: bind<{ readonly what: string }>(catalogue.runs.choose),
      scopes: {
        ...catalogue.runs.scopes,
        page: bind<{ readonly count: number }>(catalogue.runs.scopes.page),
        filter: bind<{ readonly count: number }>(catalogue.runs.scopes.filter),
      },
      possible: bind<{ readonly count: number }>(catalogue.runs.possible),
      impossible: bind<{ readonly count: number }>(catalogue.runs.impossible),
      start: bind<{ readonly count: number }>(catalogue.runs.start),
      onlyWho: bind<{ readonly name: string }>(catalogue.runs.onlyWho),
      of: bind<{ readonly done: number; readonly total: number }>(catalogue.runs.of),
    },
    causes: { ...catalogue.causes, token: bind<{ readonly cause: string }>(catalogue.causes.token) },
    common: {
      ...catalogue.common,
      signedInAs: bind<{ readonly name: string; readonly role: string }>(catalogue.common.signedInAs),
      by: bind<{ readonly name: string }>(catalogue.common.by),
      missing: { ...catalogue.common.missing, text: bind<{ readonly id: string }>(catalogue.common.missing.text) },
      notAllowed: bind<{ readonly role: string }>(catalogue.common.notAllowed),
      image: bind<{ readonly number: string }>(catalogue.common.image),
      position: {
        ...catalogue.common.position,
        found: bind<{ readonly meters: string }>(catalogue.common.position.found),
      },
    },
    deliveries: {
      ...catalogue.deliveries,
      times: bind<{ readonly count: number }>(catalogue.deliveries.times),
      bytes: bind<{ readonly count: number }>(catalogue.deliveries.bytes),
    },
    differences: {
      ...catalogue.differences,
      ms: bind<{ readonly ms: number }>(catalogue.differences.ms),
      samples: bind<{ readonly count: number }>(catalogue.differences.samples),
      marked: bind<{ readonly count: number }>(catalogue.differences.marked),
      undocumented: bind<{ readonly count: number }>(catalogue.differences.undocumented),
      times: bind<{ readonly count: number }>(catalogue.differences.times),
      announced: bind<{ readonly limit: number }>(catalogue.differences.announced),
      perMinute: bind<{ readonly limit: number }>(catalogue.differences.perMinute),
      seenBetween: bind<{ readonly first: string; readonly last: string }>(catalogue.differences.seenBetween),
    },
    judging: { ...catalogue.judging, title: bind<{ readonly count: number }>(catalogue.judging.title) },
    keys: {
      ...catalogue.keys,
      rotateOf: bind<{ readonly name: string }>(catalogue.keys.rotateOf),
      revokeOf: bind<{ readonly name: string }>(catalogue.keys.revokeOf),
      made: bind<{ readonly name: string }>(catalogue.keys.made),
      rotated: bind<{ readonly name: string }>(catalogue.keys.rotated),
    },
    lookups: {
      ...catalogue.lookups,
      ticket: { ...catalogue.lookups.ticket, mayNot: bind<{ readonly role: string }>(catalogue.lookups.ticket.mayNot) },
      again: { ...catalogue.lookups.again, in: bind<{ readonly time: string }>(catalogue.lookups.again.in) },
    },
    ops: {
      ...catalogue.ops,
      nextTry: { ...catalogue.ops.nextTry, in: bind<{ readonly time: string }>(catalogue.ops.nextTry.in) },
      sending: {
        ...catalogue.ops.sending,
        validFor: {
          ...catalogue.ops.sending.validFor,
          in: bind<{ readonly time: string }>(catalogue.ops.sending.validFor.in),
        },
        failures: bind<{ readonly count: number }>(catalogue.ops.sending.failures),
        resumeOf: bind<{ readonly operation: string }>(catalogue.ops.sending.resumeOf),
        heldCount: bind<{ readonly count: number }>(catalogue.ops.sending.heldCount),
        used: bind<{ readonly used: string; readonly limit: string }>(catalogue.ops.sending.used),
        unlimited: bind<{ readonly used: string }>(catalogue.ops.sending.unlimited),
        announced: bind<{ readonly limit: string }>(catalogue.ops.sending.announced),
        waiting: bind<{ readonly count: string }>(catalogue.ops.sending.waiting),
        closed: {
          ...catalogue.ops.sending.closed,
          in: bind<{ readonly time: string }>(catalogue.ops.sending.closed.in),
        },
      },
      queues: {
        ...catalogue.ops.queues,
        pauseOf: bind<{ readonly queue: string }>(catalogue.ops.queues.pauseOf),
        resumeOf: bind<{ readonly queue: string }>(catalogue.ops.queues.resumeOf),
      },
      conservation: {
        ...catalogue.ops.conservation,
        lost: bind<{ readonly count: string; readonly of: string }>(catalogue.ops.conservation.lost),
        of: bind<{ readonly count: string }>(catalogue.ops.conservation.of),
        checked: bind<{ readonly ago: string; readonly took: string }>(catalogue.ops.conservation.checked),
        repaired: bind<{ readonly count: number }>(catalogue.ops.conservation.repaired),
      },
      processes: { ...catalogue.ops.processes, ago: bind<{ readonly age: string }>(catalogue.ops.processes.ago) },
    },
    notices: {
      ...catalogue.notices,
      started: bind<{ readonly title: string }>(catalogue.notices.started),
      reminded: bind<{ readonly title: string }>(catalogue.notices.reminded),
      ended: bind<{ readonly title: string }>(catalogue.notices.ended),
      since: bind<{ readonly time: string }>(catalogue.notices.since),
    },
    notifications: {
      ...catalogue.notifications,
      testOf: bind<{ readonly channel: string }>(catalogue.notifications.testOf),
      testDelivered: bind<{ readonly channel: string }>(catalogue.notifications.testDelivered),
      testFailed: bind<{ readonly channel: string }>(catalogue.notifications.testFailed),
      answered: bind<{ readonly status: string }>(catalogue.notifications.answered),
      someRefused: bind<{ readonly count: number }>(catalogue.notifications.someRefused),
    },
    opsAlarms: {
      ...catalogue.opsAlarms,
      asOf: bind<{ readonly time: string }>(catalogue.opsAlarms.asOf),
      more: bind<{ readonly count: number }>(catalogue.opsAlarms.more),
      nextTry: { ...catalogue.opsAlarms.nextTry, in: bind<{ readonly time: string }>(catalogue.opsAlarms.nextTry.in) },
      throttled: {
        ...catalogue.opsAlarms.throttled,
        title: bind<{ readonly budget: string }>(catalogue.opsAlarms.throttled.title),
      },
      budgetBacklog: {
        ...catalogue.opsAlarms.budgetBacklog,
        title: bind<{ readonly waiting: number; readonly limit: number; readonly budget: string }>(
          catalogue.opsAlarms.budgetBacklog.title,
        ),
      },
      failing: {
        ...catalogue.opsAlarms.failing,
        title: bind<{ readonly failures: number }>(catalogue.opsAlarms.failing.title),
      },
      attemptsFail: {
        ...catalogue.opsAlarms.attemptsFail,
        title: bind<{ readonly failed: number; readonly made: number }>(catalogue.opsAlarms.attemptsFail.title),
      },
      webhooksRefused: {
        ...catalogue.opsAlarms.webhooksRefused,
        title: bind<{ readonly path: string; readonly count: number; readonly cause: string }>(
          catalogue.opsAlarms.webhooksRefused.title,
        ),
      },
      webhooksMostlyRefused: {
        ...catalogue.opsAlarms.webhooksMostlyRefused,
        title: bind<{ readonly refused: number; readonly made: number; readonly cause: string }>(
          catalogue.opsAlarms.webhooksMostlyRefused.title,
        ),
      },
      webhookSecrets: {
        ...catalogue.opsAlarms.webhookSecrets,
        title: bind<{ readonly host: string; readonly variables: string }>(catalogue.opsAlarms.webhookSecrets.title),
      },
      noWebhooks: {
        ...catalogue.opsAlarms.noWebhooks,
        title: bind<{ readonly silence: string; readonly usual: string }>(catalogue.opsAlarms.noWebhooks.title),
      },
      noticesFail: {
        ...catalogue.opsAlarms.noticesFail,
        title: bind<{ readonly channel: string; readonly problem: string }>(catalogue.opsAlarms.noticesFail.title),
      },
      people: bind<{ readonly count: number }>(catalogue.opsAlarms.people),
      paused: {
        ...catalogue.opsAlarms.paused,
        title: bind<{ readonly operation: string }>(catalogue.opsAlarms.paused.title),
      },
      lost: { ...catalogue.opsAlarms.lost, title: bind<{ readonly count: number }>(catalogue.opsAlarms.lost.title) },
      silent: {
        ...catalogue.opsAlarms.silent,
        title: bind<{ readonly role: string; readonly host: string }>(catalogue.opsAlarms.silent.title),
      },
      workerStalled: {
        ...catalogue.opsAlarms.workerStalled,
        title: bind<{ readonly host: string; readonly queue: string }>(catalogue.opsAlarms.workerStalled.title),
      },
      unready: {
        ...catalogue.opsAlarms.unready,
        title: bind<{ readonly role: string; readonly host: string; readonly checks: string }>(
          catalogue.opsAlarms.unready.title,
        ),
      },
      dataKeysMissing: {
        ...catalogue.opsAlarms.dataKeysMissing,
        title: bind<{ readonly role: string; readonly host: string; readonly keys: string }>(
          catalogue.opsAlarms.dataKeysMissing.title,
        ),
      },
      servicesDiffer: {
        ...catalogue.opsAlarms.servicesDiffer,
        title: bind<{ readonly variables: string; readonly hosts: string }>(catalogue.opsAlarms.servicesDiffer.title),
      },
      clockOff: {
        ...catalogue.opsAlarms.clockOff,
        ahead: bind<{ readonly role: string; readonly host: string; readonly duration: string }>(
          catalogue.opsAlarms.clockOff.ahead,
        ),
        behind: bind<{ readonly role: string; readonly host: string; readonly duration: string }>(
          catalogue.opsAlarms.clockOff.behind,
        ),
      },
      queuePaused: {
        ...catalogue.opsAlarms.queuePaused,
        title: bind<{ readonly queue: string }>(catalogue.opsAlarms.queuePaused.title),
      },
      backlogOld: {
        ...catalogue.opsAlarms.backlogOld,
        title: bind<{ readonly queue: string }>(catalogue.opsAlarms.backlogOld.title),
      },
      tasksOpen: {
        ...catalogue.opsAlarms.tasksOpen,
        title: bind<{ readonly count: number }>(catalogue.opsAlarms.tasksOpen.title),
      },
      failedJobs: {
        ...catalogue.opsAlarms.failedJobs,
        title: bind<{ readonly count: number; readonly queue: string }>(catalogue.opsAlarms.failedJobs.title),
      },
    },
    shadow: {
      ...catalogue.shadow,
      recorded: bind<{ readonly count: number }>(catalogue.shadow.recorded),
      held: bind<{ readonly count: number }>(catalogue.shadow.held),
      images: bind<{ readonly count: number }>(catalogue.shadow.images),
      bannerHeld: bind<{ readonly count: number }>(catalogue.shadow.bannerHeld),
    },
    opsCharts: { ...catalogue.opsCharts, step: bind<{ readonly minutes: string }>(catalogue.opsCharts.step) },
    webhooks: {
      ...catalogue.webhooks,
      behind: bind<{ readonly duration: string }>(catalogue.webhooks.behind),
      ahead: bind<{ readonly duration: string }>(catalogue.webhooks.ahead),
    },
    rules: {
      ...catalogue.rules,
      not_before_previous: bind<{ readonly values: string }>(catalogue.rules.not_before_previous),
      not_after_next: bind<{ readonly values: string }>(catalogue.rules.not_after_next),
      one_of_fields: bind<{ readonly fields: string }>(catalogue.rules.one_of_fields),
      damaged_accepted: bind<{ readonly values: string }>(catalogue.rules.damaged_accepted),
      one_of: bind<{ readonly values: string }>(catalogue.rules.one_of),
      at_least_characters: bind<{ readonly limit: string }>(catalogue.rules.at_least_characters),
      at_least: bind<{ readonly limit: string }>(catalogue.rules.at_least),
      at_most_characters: bind<{ readonly limit: string }>(catalogue.rules.at_most_characters),
      at_most_bytes: bind<{ readonly limit: string }>(catalogue.rules.at_most_bytes),
      at_most_files: bind<{ readonly limit: string }>(catalogue.rules.at_most_files),
      at_most: bind<{ readonly limit: string }>(catalogue.rules.at_most),
      nesting: bind<{ readonly limit: string }>(catalogue.rules.nesting),
      invisible_removed: bind<{ readonly values: string }>(catalogue.rules.invisible_removed),
      other_keyboard: bind<{ readonly values: string }>(catalogue.rules.other_keyboard),
      mail_address_named: bind<{ readonly values: string }>(catalogue.rules.mail_address_named),
      at_most_items: bind<{ readonly limit: string }>(catalogue.rules.at_most_items),
    },
    signIn: {
      ...catalogue.signIn,
      provider: {
        ...catalogue.signIn.provider,
        problems: {
          ...catalogue.signIn.provider.problems,
          noRole: bind<{ readonly claim: string }>(catalogue.signIn.provider.problems.noRole),
        },
      },
    },
    taskTypes: {
      ...catalogue.taskTypes,
      types: {
        ...catalogue.taskTypes.types,
        report_refused: {
          ...catalogue.taskTypes.types.report_refused,
          title: bind<{ readonly operation: string }>(catalogue.taskTypes.types.report_refused.title),
        },
        report_unknown: {
          ...catalogue.taskTypes.types.report_unknown,
          title: bind<{ readonly operation: string }>(catalogue.taskTypes.types.report_unknown.title),
        },
        report_given_up: {
          ...catalogue.taskTypes.types.report_given_up,
          title: bind<{ readonly operation: string }>(catalogue.taskTypes.types.report_given_up.title),
        },
        answer_differs: {
          ...catalogue.taskTypes.types.answer_differs,
          title: bind<{ readonly operation: string }>(catalogue.taskTypes.types.answer_differs.title),
        },
        operation_paused: {
          ...catalogue.taskTypes.types.operation_paused,
          title: bind<{ readonly operation: string }>(catalogue.taskTypes.types.operation_paused.title),
        },
      },
    },
    tasks: {
      ...catalogue.tasks,
      open: bind<{ readonly count: number }>(catalogue.tasks.open),
      shown: bind<{ readonly count: number }>(catalogue.tasks.shown),
      fresh: bind<{ readonly count: number }>(catalogue.tasks.fresh),
      mayNot: bind<{ readonly role: string }>(catalogue.tasks.mayNot),
    },
    timeline: {
      ...catalogue.timeline,
      entries: {
        ...catalogue.timeline.entries,
        'report.retried': bind<{ readonly report: string }>(catalogue.timeline.entries['report.retried']),
        'report.corrected': bind<{ readonly report: string }>(catalogue.timeline.entries['report.corrected']),
        'report.waived': bind<{ readonly report: string }>(catalogue.timeline.entries['report.waived']),
        'report.accepted_by_hand': bind<{ readonly report: string }>(
          catalogue.timeline.entries['report.accepted_by_hand'],
        ),
        'report.accepted': bind<{ readonly report: string }>(catalogue.timeline.entries['report.accepted']),
        'report.refused': bind<{ readonly report: string }>(catalogue.timeline.entries['report.refused']),
        'report.unknown': bind<{ readonly report: string }>(catalogue.timeline.entries['report.unknown']),
        'report.handed_over': bind<{ readonly report: string }>(catalogue.timeline.entries['report.handed_over']),
      },
      accepted: {
        ...catalogue.timeline.accepted,
        late_answer: bind<{ readonly report: string }>(catalogue.timeline.accepted.late_answer),
        proved_by_webhook: bind<{ readonly report: string }>(catalogue.timeline.accepted.proved_by_webhook),
      },
      attempt: bind<{ readonly number: number; readonly report: string }>(catalogue.timeline.attempt),
      attempts: bind<{ readonly from: number; readonly to: number; readonly report: string }>(
        catalogue.timeline.attempts,
      ),
      unknown: bind<{ readonly type: string }>(catalogue.timeline.unknown),
      photos: bind<{ readonly count: number }>(catalogue.timeline.photos),
      corrected: bind<{ readonly field: string; readonly to: string; readonly from: string }>(
        catalogue.timeline.corrected,
      ),
    },
    tow: {
      ...catalogue.tow,
      title: bind<{ readonly reference: string }>(catalogue.tow.title),
      inStateFor: bind<{ readonly state: string }>(catalogue.tow.inStateFor),
      onHold: bind<{ readonly count: number }>(catalogue.tow.onHold),
      missing: { ...catalogue.tow.missing, text: bind<{ readonly reference: string }>(catalogue.tow.missing.text) },
      invoice: {
        ...catalogue.tow.invoice,
        asked: bind<{ readonly vehicle: string; readonly days: string }>(catalogue.tow.invoice.asked),
        days: bind<{ readonly count: number }>(catalogue.tow.invoice.days),
        override: bind<{ readonly computed: number }>(catalogue.tow.invoice.override),
        older: bind<{ readonly count: number }>(catalogue.tow.invoice.older),
        overrideReason: bind<{ readonly computed: number; readonly reason: string }>(
          catalogue.tow.invoice.overrideReason,
        ),
      },
    },
    towDispatch: {
      ...catalogue.towDispatch,
      photos: {
        ...catalogue.towDispatch.photos,
        count: bind<{ readonly count: number }>(catalogue.towDispatch.photos.count),
        alt: bind<{ readonly name: string }>(catalogue.towDispatch.photos.alt),
      },
    },
    towFacts: {
      ...catalogue.towFacts,
      mayNot: bind<{ readonly role: string }>(catalogue.towFacts.mayNot),
      othersSay: bind<{ readonly role: string }>(catalogue.towFacts.othersSay),
      notBefore: bind<{ readonly time: string }>(catalogue.towFacts.notBefore),
      handedNote: bind<{ readonly name: string }>(catalogue.towFacts.handedNote),
      handedNoteWithId: bind<{ readonly name: string; readonly id: string }>(catalogue.towFacts.handedNoteWithId),
      delay: bind<{ readonly count: number }>(catalogue.towFacts.delay),
      delayOf: {
        ...catalogue.towFacts.delayOf,
        none: bind<{ readonly delay: string }>(catalogue.towFacts.delayOf.none),
        counted: bind<{
          readonly delay: string;
          readonly time: string;
          readonly counted: number;
          readonly free: number;
        }>(catalogue.towFacts.delayOf.counted),
      },
    },
    units: { ...catalogue.units, money: bind<{ readonly amount: string }>(catalogue.units.money) },
    violationForm: {
      ...catalogue.violationForm,
      imagesHint: bind<{ readonly most: string }>(catalogue.violationForm.imagesHint),
      total: bind<{ readonly count: string; readonly size: string; readonly most: string }>(
        catalogue.violationForm.total,
      ),
      scaling: bind<{ readonly done: string; readonly count: string }>(catalogue.violationForm.scaling),
      scaled: bind<{ readonly size: string }>(catalogue.violationForm.scaled),
      tooLarge: bind<{ readonly size: string; readonly most: string }>(catalogue.violationForm.tooLarge),
      upload: {
        ...catalogue.violationForm.upload,
        progress: bind<{ readonly percent: string; readonly sent: string; readonly total: string }>(
          catalogue.violationForm.upload.progress,
        ),
      },
    },
    violations: {
      ...catalogue.violations,
      shown: bind<{ readonly count: number }>(catalogue.violations.shown),
      fresh: bind<{ readonly count: string }>(catalogue.violations.fresh),
      empty: {
        ...catalogue.violations.empty,
        search: bind<{ readonly query: string }>(catalogue.violations.empty.search),
      },
      pageTitle: bind<{ readonly name: string }>(catalogue.violations.pageTitle),
      imagesReplaced: bind<{ readonly count: number }>(catalogue.violations.imagesReplaced),
      imagesLeft: bind<{ readonly count: number }>(catalogue.violations.imagesLeft),
      imageOf: bind<{ readonly number: number; readonly name: string }>(catalogue.violations.imageOf),
      mayNot: bind<{ readonly role: string }>(catalogue.violations.mayNot),
    },
    why: {
      ...catalogue.why,
      people: bind<{ readonly facts: string }>(catalogue.why.people),
      others: bind<{ readonly facts: string; readonly role: string }>(catalogue.why.others),
      firstPeople: bind<{ readonly facts: string }>(catalogue.why.firstPeople),
      firstOthers: bind<{ readonly facts: string; readonly role: string }>(catalogue.why.firstOthers),
      possible: bind<{ readonly facts: string }>(catalogue.why.possible),
      possibleOthers: bind<{ readonly facts: string; readonly role: string }>(catalogue.why.possibleOthers),
      peopleTasks: bind<{ readonly count: number }>(catalogue.why.peopleTasks),
      report: {
        ...catalogue.why.report,
        on_its_way: bind<{ readonly report: string }>(catalogue.why.report.on_its_way),
        turn: bind<{ readonly report: string }>(catalogue.why.report.turn),
        first_try: bind<{ readonly report: string }>(catalogue.why.report.first_try),
        next_try: bind<{ readonly report: string; readonly attempts: number }>(catalogue.why.report.next_try),
        proof: bind<{ readonly report: string }>(catalogue.why.report.proof),
        connection: bind<{ readonly report: string }>(catalogue.why.report.connection),
        outage: bind<{ readonly report: string }>(catalogue.why.report.outage),
        shadow: bind<{ readonly report: string }>(catalogue.why.report.shadow),
        shadow_on: bind<{ readonly report: string }>(catalogue.why.report.shadow_on),
        budget: bind<{ readonly report: string }>(catalogue.why.report.budget),
        paused: bind<{ readonly report: string; readonly operation: string }>(catalogue.why.report.paused),
        refused: bind<{ readonly report: string }>(catalogue.why.report.refused),
        given_up: bind<{ readonly report: string }>(catalogue.why.report.given_up),
        unknown: bind<{ readonly report: string }>(catalogue.why.report.unknown),
      },
      violation: {
        ...catalogue.why.violation,
        next_try: bind<{ readonly attempts: number }>(catalogue.why.violation.next_try),
        paused: bind<{ readonly operation: string }>(catalogue.why.violation.paused),
      },
      behind: bind<{ readonly report: string; readonly head: string }>(catalogue.why.behind),
      until: {
        ...catalogue.why.until,
        next_try: {
          ...catalogue.why.until.next_try,
          in: bind<{ readonly time: string }>(catalogue.why.until.next_try.in),
        },
        proof: { ...catalogue.why.until.proof, in: bind<{ readonly time: string }>(catalogue.why.until.proof.in) },
        again: { ...catalogue.why.until.again, in: bind<{ readonly time: string }>(catalogue.why.until.again.in) },
      },
      queue: {
        ...catalogue.why.queue,
        place: bind<{ readonly place: string; readonly of: string }>(catalogue.why.queue.place),
        sent: { ...catalogue.why.queue.sent, in: bind<{ readonly time: string }>(catalogue.why.queue.sent.in) },
        closed: bind<{ readonly time: string }>(catalogue.why.queue.closed),
      },
    },
  };
}
