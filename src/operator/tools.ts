import type { Queue } from 'bullmq';
import type { QueueView } from '../contracts/operator';
import type { TowRules } from '../domain/tow/fact-command';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config/config';
import type { Log } from '../platform/log/log';
import type { Metrics } from '../platform/log/metrics';
import type { Tracing } from '../platform/log/tracing';
import type {
  AnswerStore,
  ApiKeyStore,
  AuditStore,
  DeliveryStore,
  DifferenceStore,
  SendingStore,
  TaskStore,
  TowStore,
  ViolationStore,
} from '../workflow/ports';
import type { ChangeFeed } from '../workflow/ops/changes';
import type { ConservationStore } from '../workflow/ops/conservation';
import type { NotificationTools } from '../workflow/ops/notifications';
import type { Spool } from '../workflow/ops/spool-port';
import type { SendChange, SubscriptionStore } from '../workflow/ops/subscriptions';
import type { SignIn } from '../workflow/operator-port';
import type { ModeTools } from '../workflow/outbox/service-mode';
import type { AddressOf, WithheldStore } from '../workflow/outbox/withheld-list';
import type { RunStore } from '../workflow/run/run-port';
import type { Lookups } from '../workflow/service/lookups';
import type { SeenServiceStore } from '../workflow/service/service-view';
import type { RecordStore } from '../workflow/transaction-port';
import type { RefusedCallStore } from '../workflow/webhook/webhook-port';
import type { OpenPath, SessionActor } from './authenticate';

/** A queue, and its counts of jobs and of due records. */
export interface WatchedQueue {
  readonly queue: Queue;
  readonly view: () => Promise<QueueView>;
}

/** What the routes read and change, and the settings that they follow. */
export interface OperatorTools {
  readonly records: RecordStore;
  readonly tows: TowStore;
  readonly rules: TowRules;
  readonly violations: ViolationStore;
  /** The service's API for new violations. */
  readonly violationApi: ViolationApi;
  readonly spool: Spool;
  readonly imagesTotalBytesMax: number;
  readonly deliveries: DeliveryStore;
  readonly refusedCalls: Pick<RefusedCallStore, 'list'>;
  readonly tasks: TaskStore;
  readonly differences: DifferenceStore;
  readonly seenService: SeenServiceStore;
  readonly runs: RunStore;
  readonly sending: SendingStore;
  /** Null when the service is not configured. */
  readonly lookups: Lookups | null;
  readonly withheld: WithheldStore;
  /** What the switch of all sending needs. */
  readonly mode: ModeTools;
  readonly addressOf: AddressOf;
  readonly keys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly answers: AnswerStore;
  readonly queues: readonly WatchedQueue[];
  readonly conservation: Pick<ConservationStore, 'lastScan'>;
  readonly notifications: NotificationTools;
  readonly changes: ChangeFeed;
  readonly subscriptions: SubscriptionStore;
  readonly sendChange: SendChange;
  /** The rule that the address of a receiver breaks; null when it may be used. */
  readonly brokenAddressRule: (url: string) => string | null;
  /** The one sign-in of this process (createSignIn). */
  readonly signIn: SignIn;
  /** Finds the console session of a request. Sessions may read. */
  readonly sessionActor: SessionActor;
  /** Paths that need no API key. */
  readonly openPaths: readonly OpenPath[];
  readonly trustProxy: TrustProxy;
  /** The path of the public address, such as `/towhook`. */
  readonly publicPath: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}
