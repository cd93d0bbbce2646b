import { Inert } from './inert.tsx';

/** Shows untrusted JSON in full: an object as a table, an array as a list. */
export function Value({ value }: { value: unknown }) {
  if (typeof value === 'string') return <TextValue text={value} />;
  if (typeof value !== 'object' || value === null) {
    return <span className="literal">{String(value)}</span>;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return <span className="literal">{Array.isArray(value) ? '[]' : '{}'}</span>;
  }
  if (Array.isArray(value)) {
    return (
      <ol className="values">
        {entries.map(([index, item]) => (
          <li key={index}>
            <Value value={item} />
          </li>
        ))}
      </ol>
    );
  }
  return (
    <table className="values">
      <tbody>
        {entries.map(([name, item]) => (
          <tr key={name}>
            <th scope="row">
              <Inert text={name} />
            </th>
            <td>
              <Value value={item} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function TextValue({ text }: { text: string }) {
  return (
    <span className={text.includes('\n') ? 'text-value block' : 'text-value'}>
      <Inert text={text} />
    </span>
  );
}
