/** The part of the page that a phone shows. */
export type View = 'conversations' | 'chat' | 'inbox';

interface TabsProps {
  view: View;
  waiting: number;
  onView: (view: View) => void;
}

const labels: readonly [View, string][] = [
  ['conversations', 'Conversations'],
  ['chat', 'Chat'],
  ['inbox', 'Inbox'],
];

/** The tabs that select the part of the page at phone width. */
export function Tabs({ view, waiting, onView }: TabsProps) {
  return (
    <nav className="tabs" aria-label="Parts of the page">
      {labels.map(([each, label]) => (
        <button
          key={each}
          type="button"
          aria-current={each === view ? 'page' : undefined}
          onClick={() => onView(each)}
        >
          {label}
          {each === 'inbox' && waiting > 0 && <span className="badge">{waiting}</span>}
        </button>
      ))}
    </nav>
  );
}
