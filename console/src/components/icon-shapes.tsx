/** The shapes of icons on a 16 px grid. `k` is drawn in the colour of the ground, `kf` filled with it. */

import type { ComponentChildren } from "preact";

const solid = { fill: "currentColor", stroke: "none" } as const;
const knot = { class: "k", "stroke-width": 1.7 } as const;

/** Status: an outline is alive, a solid disc has ended, a solid square ended badly. */
export const STATUS_SHAPES = {
  scheduled: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  queued: (
    <g {...solid}>
      <rect x="2" y="3" width="12" height="2.2" rx="1.1" />
      <rect x="2" y="6.9" width="9" height="2.2" rx="1.1" />
      <rect x="2" y="10.8" width="6" height="2.2" rx="1.1" />
    </g>
  ),
  waiting: (
    <>
      <path d="M4 2.2h8M4 13.8h8M5 2.2v2.1c0 1.9 3 2.4 3 3.7s-3 1.8-3 3.7v2.1M11 2.2v2.1c0 1.9-3 2.4-3 3.7s3 1.8 3 3.7v2.1" />
      <path d="M5.9 13c0-1.4 1-2 2.1-2.6 1.1.6 2.1 1.2 2.1 2.6z" {...solid} />
    </>
  ),
  starting: (
    <>
      <circle cx="8" cy="8" r="6" stroke-dasharray="2.5 2.21" />
      <circle cx="8" cy="8" r="1.9" {...solid} />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M6.4 5.2v5.6L11 8z" {...solid} />
    </>
  ),
  retrying: (
    <>
      <path d="M13.2 8a5.2 5.2 0 1 1-1.7-3.85" />
      <path d="M13.7 1.9v3.3h-3.3z" fill="currentColor" stroke-width=".8" />
    </>
  ),
  succeeded: (
    <>
      <circle cx="8" cy="8" r="6.8" {...solid} />
      <path d="M5 8.3l2.1 2.1L11.1 6" {...knot} />
    </>
  ),
  failed: (
    <>
      <rect x="1.7" y="1.7" width="12.6" height="12.6" rx="2.6" {...solid} />
      <path d="M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2" {...knot} />
    </>
  ),
  timed_out: (
    <>
      <rect x="1.7" y="1.7" width="12.6" height="12.6" rx="2.6" {...solid} />
      <path d="M8 4.3V8.3l2.6 1.7" {...knot} />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6.8" {...solid} />
      <path d="M5 8h6" {...knot} />
    </>
  ),
  skipped: (
    <>
      <path d="M2.8 3.6v8.8L9.3 8z" fill="currentColor" stroke-width="1" />
      <rect x="11.2" y="3.1" width="2.1" height="9.8" rx="1" {...solid} />
    </>
  ),
  missed: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M3.9 12.1l8.2-8.2" />
    </>
  ),
  on_track: (
    <>
      <path d="M1.8 8h7.7M6.4 4.7L9.7 8l-3.3 3.3" />
      <path d="M13.3 2.5v11" />
    </>
  ),
  at_risk: (
    <>
      <path d="M8 2.1l6.3 11.2H1.7z" />
      <path d="M8 6.3v3.2" />
      <circle cx="8" cy="11.4" r=".95" {...solid} />
    </>
  ),
  will_miss: (
    <>
      <path d="M8 1.7l6.8 12.1H1.2z" fill="currentColor" stroke-width="1.2" />
      <path d="M8 6v3.4" {...knot} />
      <circle cx="8" cy="11.6" r="1.05" class="kf" />
    </>
  ),
  deadline_missed: (
    <>
      <path d="M8 .8L15.2 8 8 15.2.8 8z" fill="currentColor" stroke-width="1" />
      <path d="M6 6l4 4M10 6l-4 4" {...knot} />
    </>
  ),
  met: (
    <>
      <path d="M3.6 1.8v12.6" />
      <path d="M4.2 2.5h9.3l-2.3 3.4 2.3 3.4H4.2z" fill="currentColor" stroke-width="1" />
    </>
  ),
  active: <circle cx="8" cy="8" r="3.2" {...solid} />,
  paused: (
    <g {...solid}>
      <rect x="4" y="3.2" width="2.8" height="9.6" rx=".8" />
      <rect x="9.2" y="3.2" width="2.8" height="9.6" rx=".8" />
    </g>
  ),
} satisfies Record<string, ComponentChildren>;

/** Navigation, actions and marks. */
export const UI_SHAPES = {
  power: <path d="M8 1.8v5.4M4.6 4a5.4 5.4 0 1 0 6.8 0" />,
  home: <path d="M2.4 7.4L8 2.6l5.6 4.8M4 6.4v7h8v-7" />,
  jobs: (
    <>
      <rect x="2.2" y="2.8" width="11.6" height="10.4" rx="1.6" />
      <path d="M2.2 6.4h11.6M5 9.8h4" />
    </>
  ),
  executions: <path d="M2 4h7M5 8h8M7.5 12H14" />,
  calendar: (
    <>
      <rect x="2.2" y="3.2" width="11.6" height="10.4" rx="1.6" />
      <path d="M2.2 6.6h11.6M5.4 1.8v2.6M10.6 1.8v2.6" />
    </>
  ),
  flag: <path d="M4 2v12M4 2.8h8.4l-2 3 2 3H4" />,
  gauge: <path d="M2.4 11.6a6 6 0 1 1 11.2 0M8 9.6l2.8-3.4" />,
  lane: <path d="M2.2 2.6v10.8M13.8 2.6v10.8M4.6 5h4.8M4.6 8h6.8M4.6 11h3.2" />,
  tasks: <path d="M8 1.8l5.4 3v6.4L8 14.2l-5.4-3V4.8zM2.8 5L8 8l5.2-3M8 8v6" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.4" />
      <path d="M10.4 10.4l3.4 3.4" />
    </>
  ),
  globe: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M2 8h12M8 2c2.2 2 2.6 4 2.6 6s-.4 4-2.6 6c-2.2-2-2.6-4-2.6-6S5.8 4 8 2z" />
    </>
  ),
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  check: <path d="M3.4 8.4l3 3 6.2-6.6" />,
  down: <path d="M4 6l4 4 4-4" />,
  right: <path d="M6 4l4 4-4 4" />,
  left: <path d="M10 4L6 8l4 4" />,
  more: (
    <g {...solid}>
      <circle cx="3.4" cy="8" r="1.2" />
      <circle cx="8" cy="8" r="1.2" />
      <circle cx="12.6" cy="8" r="1.2" />
    </g>
  ),
  menu: <path d="M2.4 4.4h11.2M2.4 8h11.2M2.4 11.6h11.2" />,
  copy: (
    <>
      <rect x="5.4" y="5.4" width="8" height="8" rx="1.4" />
      <path d="M10.6 5.2V3.8a1.2 1.2 0 0 0-1.2-1.2H3.8a1.2 1.2 0 0 0-1.2 1.2v5.6a1.2 1.2 0 0 0 1.2 1.2h1.4" />
    </>
  ),
  link: (
    <path d="M6.8 9.2l2.4-2.4M7.4 4.6l1.2-1.2a2.8 2.8 0 0 1 4 4l-1.2 1.2M8.6 11.4l-1.2 1.2a2.8 2.8 0 0 1-4-4l1.2-1.2" />
  ),
  star: <path d="M8 2l1.8 3.8 4.2.6-3 3 .7 4.2L8 11.6l-3.7 2 .7-4.2-3-3 4.2-.6z" />,
  download: <path d="M8 2.4v8M4.8 7.4L8 10.6l3.2-3.2M3 13.4h10" />,
  bell: <path d="M3.6 11.4h8.8c-1-1-1.2-2-1.2-4a3.2 3.2 0 0 0-6.4 0c0 2-.2 3-1.2 4zM6.8 13.4h2.4" />,
  user: (
    <>
      <circle cx="8" cy="5.4" r="2.8" />
      <path d="M2.8 13.6c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4" />
    </>
  ),
} satisfies Record<string, ComponentChildren>;
