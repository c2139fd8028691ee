package browsertest

import "github.com/chromedp/cdproto/input"

// Point is a place on the screen, in CSS pixels from its upper left corner.
type Point struct{ X, Y float64 }

// Touch puts fingers down at their first points, moves them to their last ones
// together, and lifts them.
func (tab *Tab) Touch(fingers ...[2]Point) {
	tab.t.Helper()
	const steps = 12
	at := func(step int) []*input.TouchPoint {
		var points []*input.TouchPoint
		for n, f := range fingers {
			share := float64(step) / steps
			points = append(points, &input.TouchPoint{ID: new(float64(n)), X: f[0].X + (f[1].X-f[0].X)*share, Y: f[0].Y + (f[1].Y-f[0].Y)*share})
		}
		return points
	}
	touch := func(kind input.DispatchTouchEventType, points []*input.TouchPoint) {
		tab.t.Helper()
		call(tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	touch(input.DispatchTouchEventTypeTouchStart, at(0))
	for step := 1; step <= steps; step++ {
		touch(input.DispatchTouchEventTypeTouchMove, at(step))
	}
	touch(input.DispatchTouchEventTypeTouchEnd, []*input.TouchPoint{})
}
