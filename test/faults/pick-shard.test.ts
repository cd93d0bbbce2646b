import { expect, test } from 'vitest';
import { pickShard } from './pick-shard.ts';

const cases = ['a', 'b', 'c', 'd', 'e'];

test('each case is in one shard, and without shards all are run', () => {
  const shards = ['1/3', '2/3', '3/3'].map((shard) => pickShard(cases, shard));
  expect(shards).toEqual([['a', 'd'], ['b', 'e'], ['c']]);
  expect(pickShard(cases, '1/1')).toEqual(cases);
});

test.each(['', '4/3', '0/3', '6/6', 'x/y', '1'])(
  'the shard %j, which has no case, fails',
  (shard) => {
    expect(() => pickShard(cases, shard)).toThrow('No case of 5 is in the shard');
  },
);
