import { risks } from '../../../content/approval-terms.ts';
import { inboxLists, type InboxList } from '../inbox-api.ts';
import { Button } from './button.tsx';
import type { Inbox } from './inbox.ts';
import type { ListQuery } from './inbox-client.ts';
import { findShortcut } from './key-map.ts';

const names: Record<InboxList, string> = {
  mine: 'For me',
  all: 'All open',
  decided: 'Decided',
  unsettled: 'Unsettled',
};

/** The lists, with their counts. */
export function ListTabs({ inbox }: { inbox: Inbox }) {
  return (
    <nav class="lists" aria-label="Lists">
      {inboxLists.map((list) => (
        <Button
          key={list}
          isCurrent={inbox.query.list === list}
          onPress={() => void inbox.setQuery({ list })}
        >
          {names[list]} <span class="count">{describeCount(inbox, list)}</span>
        </Button>
      ))}
    </nav>
  );
}

function describeCount({ counts }: Inbox, list: InboxList): string {
  if (counts === undefined || list === 'decided') return '';
  const { count, hasMore } = counts[list];
  return `${count.toLocaleString()}${hasMore ? '+' : ''}`;
}

const orders: Record<ListQuery['order'], string> = {
  risk: 'Riskiest first',
  expires: 'Expiring first',
  oldest: 'Oldest first',
};
const orderNames = ['risk', 'expires', 'oldest'] as const;
const textFilters = [
  { name: 'agent', label: 'Agent' },
  { name: 'tool', label: 'Tool' },
  { name: 'requester', label: 'Person' },
] as const;

/**
 * Search, filters and order. Typed text counts when the field is left, or with Enter: until then only the field has it, as each arrival
 * renders the list again.
 */
export function ListFilter({ inbox }: { inbox: Inbox }) {
  const { query } = inbox;
  const set = (change: Partial<ListQuery>): void => void inbox.setQuery(change);
  const isFiltered = [...textFilters.map(({ name }) => query[name]), query.risk].some(
    (value) => value !== '',
  );
  return (
    <search class="tools">
      <input
        id="search"
        type="search"
        placeholder="Search"
        aria-label="Search"
        aria-keyshortcuts={findShortcut('search')}
        defaultValue={query.text}
        onChange={({ currentTarget }) => set({ text: currentTarget.value.trim() })}
      />
      <details class="filter">
        <summary>{isFiltered ? 'Filter (on)' : 'Filter'}</summary>
        <div class="filter-fields">
          {textFilters.map(({ name, label }) => (
            <label key={name}>
              {label}
              <input
                defaultValue={query[name]}
                onChange={({ currentTarget }) => set({ [name]: currentTarget.value.trim() })}
              />
            </label>
          ))}
          <label>
            Risk
            <select
              value={query.risk}
              onChange={({ currentTarget }) => set({ risk: currentTarget.value })}
            >
              <option value="">Any</option>
              {risks.map((risk) => (
                <option key={risk} value={risk}>
                  {risk}
                </option>
              ))}
            </select>
          </label>
          <label>
            Order
            <select
              value={query.order}
              onChange={({ currentTarget }) => {
                const order = orderNames.find((each) => each === currentTarget.value);
                if (order !== undefined) set({ order });
              }}
            >
              {orderNames.map((order) => (
                <option key={order} value={order}>
                  {orders[order]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </details>
    </search>
  );
}
