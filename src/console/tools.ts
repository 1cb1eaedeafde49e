import type { Bulk } from '../workflow/bulk';
import type { FiguresStore, ProcessStore } from '../workflow/figures-port';
import type { OperatorApi } from '../workflow/operator-port';
import type { ViolationApi } from '../domain/vocabulary';
import type { TaskStore } from '../workflow/ports';
import type { TowTools } from '../workflow/progress';
import type { Spool } from '../workflow/spool-port';
import type { ViolationStore } from '../workflow/violation-port';

/** What the pages read from and act through. */
export interface PageTools {
  /** Whatever changes anything goes through it. */
  readonly api: OperatorApi;
  readonly progress: Pick<TowTools, 'tows' | 'rules'>;
  readonly tasks: TaskStore;
  readonly bulk: Bulk;
  readonly violations: Pick<ViolationStore, 'read' | 'list'>;
  /** Whether an image of a violation is still there, and the alarm about missing records; images come from the API. */
  readonly spool: Pick<Spool, 'pathOf' | 'alarm'>;
  readonly violationApi: ViolationApi;
  /** False without an address of the service and credentials: nothing can be asked of it. */
  readonly asksService: boolean;
  readonly figures: FiguresStore;
  readonly processes: Pick<ProcessStore, 'list'>;
}
