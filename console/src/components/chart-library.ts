/** uPlot with its styles, in a file of their own that is loaded with the first chart. */

import "uplot/dist/uPlot.min.css";
import uPlot from "uplot";

export default uPlot;
