/**
 * True while a person is asked about the answer by which a report was accepted: until then it may be sent again, although it
 * is settled. A task of an earlier version offers no such thing.
 */
export function isAnswerQuestioned(
  reportId: string,
  tasks: readonly {
    readonly type: string;
    readonly report_id?: string | undefined;
    readonly actions: readonly string[];
  }[],
): boolean {
  return tasks.some(
    ({ type, report_id, actions }) => type === 'answer_broken' && report_id === reportId && actions.includes('retry'),
  );
}
