package html

import _ "embed"

// The page's own style and scripts, one file a topic; the scripts are one
// program, in this order.
var (
	//go:embed assets/style.css
	style string
	//go:embed assets/data.js
	dataScript string
	//go:embed assets/lanes.js
	lanesScript string
	//go:embed assets/story.js
	storyScript string
	//go:embed assets/draw.js
	drawScript string
	//go:embed assets/view.js
	viewScript string
	//go:embed assets/main.js
	mainScript string
)

var script = "'use strict';\n(() => {\n" + dataScript + lanesScript + storyScript + drawScript + viewScript + mainScript + "})();\n"
