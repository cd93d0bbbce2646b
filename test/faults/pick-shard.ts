/** The cases that this job runs: all, or those of the shard that `HOLDPOINT_SHARD` names, as `2/6` does. Each case is in one shard. */
export function pickShard<Case>(
  cases: readonly Case[],
  shard = process.env['HOLDPOINT_SHARD'] ?? '1/1',
): Case[] {
  const [, number, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(shard) ?? [];
  const picked = cases.filter((_each, index) => index % Number(count) === Number(number) - 1);
  /* A job that ran nothing would pass. */
  if (picked.length === 0) throw new Error(`No case of ${cases.length} is in the shard ${shard}`);
  return picked;
}
