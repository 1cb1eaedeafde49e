import type { Viewer } from '../viewer';

/** What a field is called on its form, by its name in the API; null where no form of ours has it. */
export function fieldLabel({ words }: Viewer, name: string): string | null {
  const { towFacts, towReports, towDispatch, violationForm, keys, signIn, tow, common } = words;
  const image = /^images\.(\d+)$/.exec(name);
  if (image) return common.image(image[1] ?? '');
  const labels = new Map<string, string>([
    ...Object.entries(violationForm.fields),
    ...Object.entries(towReports.fields),
    ...Object.entries(towFacts.fields),
    ['reason', towDispatch.holds.reason],
    ['crew', towDispatch.crew.crew],
    ['truck', towDispatch.crew.truck],
    ['yard', towDispatch.yard.yard],
    ['slot', towDispatch.yard.slot],
    ['text', towDispatch.notes.text],
    ['violation_id', towDispatch.link.id],
    ['violation_reference_id', tow.serviceViolation],
    ['zone_id', violationForm.fields.zoneId],
    ['images', towDispatch.photos.choose],
    ['name', keys.name],
    ['role', keys.role],
    ['grace_hours', keys.grace],
    ['key', signIn.key],
    ['body', common.wholeForm],
  ]);
  return labels.get(name) ?? labels.get(name.split('.')[0] ?? '') ?? null;
}
