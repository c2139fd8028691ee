package browsertest

import "github.com/chromedp/chromedp"

// PDF prints the page on A4, with the browser's own margins, and gives the file.
func (tab *Tab) PDF() []byte {
	tab.t.Helper()
	return do(tab, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4)))
}
