import { parse, View } from 'vega'
import { compile } from 'vega-lite'

/** A bar, with how far the middle half of the rounds lies apart. */
export interface ChartRow {
  readonly group: string
  readonly name: string
  readonly ratio: number
  readonly q1: number
  readonly q3: number
}

const TEXT = '#7d7d7d'
const GRID = '#9993'

/** Bars in groups, each beside the loop at 1, as SVG that can be read on white and on black. */
export async function chartOf(title: string, rows: readonly ChartRow[]): Promise<string> {
  const names = [...new Set(rows.map(({ name }) => name))]
  const groups = [...new Set(rows.map(({ group }) => group))]
  const y = {
    field: 'name',
    type: 'nominal',
    sort: names,
    title: null,
    axis: { ticks: false, domain: false },
  } as const
  const { spec } = compile({
    title: { text: title, anchor: 'start', offset: 12 },
    data: { values: [...rows] },
    facet: {
      row: {
        field: 'group',
        type: 'nominal',
        sort: groups,
        title: null,
        header: { labelAngle: 0, labelAlign: 'left', labelAnchor: 'start', labelOrient: 'top' },
      },
    },
    spec: {
      width: 520,
      height: { step: 20 },
      layer: [
        {
          mark: { type: 'bar', cornerRadiusEnd: 3, height: 12 },
          encoding: {
            y,
            x: { field: 'ratio', type: 'quantitative', title: 'times the loop written by hand' },
            color: {
              field: 'name',
              type: 'nominal',
              sort: names,
              legend: null,
              scale: { domain: names, range: ['#3b82c4', '#8a8a8a', '#c47a3b', '#b0628f', '#5f9e6e'] },
            },
          },
        },
        {
          mark: { type: 'rule', color: TEXT },
          encoding: { y, x: { field: 'q1', type: 'quantitative' }, x2: { field: 'q3' } },
        },
        {
          mark: { type: 'text', align: 'left', dx: 6, color: TEXT },
          encoding: {
            y,
            x: { field: 'q3', type: 'quantitative' },
            text: { field: 'ratio', type: 'quantitative', format: '.2f' },
          },
        },
      ],
    },
    config: {
      background: 'transparent',
      font: 'system-ui, sans-serif',
      view: { stroke: null },
      title: { color: TEXT },
      header: { labelColor: TEXT, labelFontWeight: 'bold' },
      axis: {
        labelColor: TEXT,
        titleColor: TEXT,
        gridColor: GRID,
        tickColor: GRID,
        domainColor: GRID,
        labelLimit: 260,
      },
    },
  })
  const view = new View(parse(spec), { renderer: 'none' })
  const svg = await view.toSVG()
  view.finalize()
  return svg
}
