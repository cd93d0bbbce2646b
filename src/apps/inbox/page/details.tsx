import { inertLine } from '../../../content/inert-text.ts';
import type { InboxDetail, InboxEntry } from '../inbox-api.ts';
import { ValuesOf, Value } from './arguments.tsx';
import { DiffView } from './diff-view.tsx';
import { Address } from './address.tsx';
import { LongText } from './long-text.tsx';
import { Field } from './reading.tsx';

/** The app's details about a call, besides its arguments. */
export function Details({ entry: { details } }: { entry: InboxEntry }) {
  if (details.length === 0) return null;
  return (
    <section>
      <h3>
        Details <span className="count">{details.length}</span>
      </h3>
      <dl className="rows facts">
        {details.map((detail, index) => (
          <div key={index} className={isWide(detail) ? 'row wide' : 'row'}>
            <dt>{inertLine(detail.label)}</dt>
            <dd>
              <Field name={`detail ${index}`} label={inertLine(detail.label)}>
                <Detail detail={detail} name={`detail ${index}`} />
              </Field>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** One detail of the app. */
export function Detail({ detail, name }: { detail: InboxDetail; name: string }) {
  switch (detail.type) {
    case 'text':
      return <LongText text={detail.text} />;
    case 'value': {
      const { value, format } = detail;
      const formats = format === undefined ? [] : [{ path: [], format }];
      return (
        <ValuesOf name={name} root={value} declared={{ formats, masked: [] }}>
          <Value value={value} path={[]} />
        </ValuesOf>
      );
    }
    case 'diff':
      return <DiffView before={detail.before} after={detail.after} />;
    case 'link':
      return <Address url={detail.url} />;
  }
}

function isWide(detail: InboxDetail): boolean {
  switch (detail.type) {
    case 'text':
      return detail.text.length > 400 || detail.text.includes('\n');
    case 'value':
      return typeof detail.value === 'object' && detail.value !== null;
    case 'diff':
      return true;
    case 'link':
      return false;
  }
}
