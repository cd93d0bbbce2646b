import { inertLine } from '../../../content/inert-text.ts';
import { Button } from './button.tsx';
import { countEnded, describeRow, describeState } from './entry-words.ts';
import type { Inbox } from './inbox.ts';
import { pageReader } from './reading.tsx';
import type { Row } from './shown-list.ts';
import { describeRelative } from './format-value.ts';

/** The list: a row for each request, or for several similar ones. */
export function ListPane({ inbox }: { inbox: Inbox }) {
  const { list, marks, activeKey, opened } = inbox;
  const { newCount, rows } = list;
  return (
    <section class="list-pane" aria-label="Requests">
      <div class="list-top">
        <span class={newCount === 0 ? 'absent' : ''}>
          <Button onPress={() => showNew(inbox)}>{newCount} new</Button>
        </span>
        <span class={marks.count === 0 ? 'absent' : 'marks'}>
          <Button onPress={() => inbox.openMarked()}>Open {marks.count} marked</Button>
          <Button action="mark-range" look="quiet" onPress={() => markRange(inbox)}>
            Mark up to here
          </Button>
          <Button
            look="quiet"
            label="Take all marks back"
            onPress={() => {
              inbox.marks.clear();
              inbox.moveFocusTo('row');
            }}
          >
            ✕
          </Button>
        </span>
      </div>
      {rows.length === 0 ? (
        <p class="empty">{describeEmpty(inbox)}</p>
      ) : (
        <div
          class="rows"
          role="grid"
          aria-label="Requests"
          aria-multiselectable="true"
          aria-rowcount={inbox.hasMore ? -1 : rows.length}
        >
          {rows.map((row) => (
            <ListRow
              key={row.key}
              row={row}
              inbox={inbox}
              isActive={row.key === activeKey}
              isOpen={row.key === opened?.row.key}
            />
          ))}
        </div>
      )}
      {inbox.hasMore && <Button onPress={() => void inbox.loadMore()}>Show more</Button>}
    </section>
  );
}

/* The button then disappears, so the focus moves. */
function showNew(inbox: Inbox): void {
  inbox.showNew();
  inbox.moveFocusTo('row');
}

function markRange(inbox: Inbox): void {
  const row = inbox.list.findRow(inbox.activeKey);
  if (row !== undefined) inbox.marks.markRange(row);
}

function describeEmpty({ isRead, query, problem }: Inbox): string {
  if (!isRead) return problem === undefined ? 'Reading …' : '';
  const { list, order: _order, ...filter } = query;
  if (Object.values(filter).some((value) => value !== '')) return 'Nothing is like that.';
  const empty = {
    mine: 'Nothing waits for you.',
    all: 'Nothing waits for anybody.',
    decided: 'Nothing was decided yet.',
    unsettled: 'Nothing is lost or stuck.',
  };
  return empty[list];
}

interface ListRowProps {
  row: Row;
  inbox: Inbox;
  isActive: boolean;
  isOpen: boolean;
}

function ListRow({ row, inbox, isActive, isOpen }: ListRowProps) {
  const { entries, key } = row;
  const [entry] = entries;
  if (entry === undefined) return null;
  const title = describeRow(row);
  const isMarked = entries.some(({ requestId }) => inbox.marks.has(requestId));
  const isRefused = entries.some(({ requestId }) => inbox.answering.findRefusal(requestId));
  const needsPerson = entries.some(inbox.needsPerson);
  const [about, how] = [describeAbout(row), describeHow(row, inbox)];
  const parts = [title, about, entry.risk ?? '', how];
  return (
    <div
      role="row"
      class={`list-row${needsPerson ? '' : ' done'}${isRefused ? ' refused' : ''}`}
      data-key={key}
      aria-label={parts.filter((part) => part !== '').join(', ')}
      tabIndex={isActive ? 0 : -1}
      aria-selected={isMarked}
      aria-current={isOpen ? 'true' : undefined}
      onFocus={() => {
        if (!isActive) inbox.setActive(row);
      }}
      onClick={() => inbox.open(row, 'heading')}
    >
      <span role="gridcell" class="mark">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isMarked}
          disabled={!needsPerson}
          aria-label={`Mark ${title}`}
          aria-keyshortcuts="x"
          onClick={(event) => {
            event.stopPropagation();
            if (event.shiftKey) inbox.marks.markRange(row);
            else inbox.marks.toggle(row);
            inbox.setActive(row);
            inbox.moveFocusTo('row');
          }}
        />
      </span>
      <span role="gridcell" class="what">
        <span class="title">{title}</span>
        <span class="about">{about}</span>
      </span>
      <span role="gridcell" class="state">
        {entry.risk !== null && <span class={`risk ${entry.risk}`}>{entry.risk}</span>}
        <span class="how">{how}</span>
      </span>
    </div>
  );
}

function describeAbout({ entries: [entry] }: Row): string {
  if (entry === undefined) return '';
  const { toolName, agent, requesters } = entry;
  const who = requesters.length === 0 ? undefined : `for ${requesters.map(inertLine).join(', ')}`;
  const named = [toolName, agent].map((name) => (name === null ? undefined : inertLine(name)));
  return [...named, who].filter((each) => each !== undefined).join(' · ');
}

/** Describes the state of a row: refused, sending, ended, or its age or expiry. */
function describeHow(row: Row, { answering, client }: Inbox): string {
  const { entries } = row;
  const [entry] = entries;
  if (entry === undefined) return '';
  const refused = entries.filter(({ requestId }) => answering.findRefusal(requestId));
  if (refused.length > 0)
    return entries.length === 1 ? 'Not recorded' : `${refused.length} not recorded`;
  const sending = entries.flatMap(({ requestId }) => answering.describeSending(requestId) ?? []);
  if (sending[0] !== undefined) return `${sending[0]} …`;
  if (entries.length > 1) {
    const ended = countEnded(row);
    if (ended !== undefined) return ended;
  }
  const state = describeState(entry);
  if (state !== undefined) return state;
  const { expiresAt, createdAt } = entry;
  if (expiresAt === undefined) return describeRelative(createdAt, client.now, pageReader);
  if (expiresAt <= client.now) return 'Expired';
  return `expires ${describeRelative(expiresAt, client.now, pageReader)}`;
}
