import type { ComponentChildren } from 'preact';

/* More columns get too little room each. */
const mostBeside = 6;

interface DataTableProps {
  /** The label for screen readers. */
  label: string;
  columns: readonly string[];
  rows: readonly { name: ComponentChildren; cells: readonly ComponentChildren[] }[];
}

/** A table that, without room for its columns, becomes one block per row, each value with the name of its column. */
export function DataTable({ label, columns, rows }: DataTableProps) {
  const table = (
    <table role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          <td role="cell" />
          {columns.map((column) => (
            <th key={column} role="columnheader" scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ name, cells }, index) => (
          <tr key={index} role="row">
            <th role="rowheader" scope="row">
              {name}
            </th>
            {cells.map((cell, place) => (
              <td key={place} role="cell">
                <span className="cell-name" aria-hidden="true">
                  {columns[place]}
                </span>
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return columns.length > mostBeside ? <div className="narrow">{table}</div> : table;
}
