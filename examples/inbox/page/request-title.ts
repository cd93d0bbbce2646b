import type { BoardEntry } from '../board.ts';

/** What a request asks, as one title. Several questions have their texts at their fields. */
export function titleOf(request: BoardEntry['request']): string {
  if (request.type === 'approval-request' || request.fields.length === 1) return request.text;
  const saysMore = !request.fields.every(({ label }) => request.text.includes(label));
  return saysMore ? request.text : `${request.fields.length} questions`;
}
