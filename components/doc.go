// Package components holds the parts that pages are made of: tags, plans, logs,
// forms. A part takes a view struct of plain data and renders it; it knows nothing
// of Kubernetes or HTTP, reads no clock and builds no URLs. Whoever makes a view
// has already made the texts in it safe to read (control characters and
// characters that reorder text shown as escapes); the parts make them safe as
// HTML.
//
// # Live pages
//
// A page that can move carries a LiveView. Its URL is a stream of server-sent
// events that live.js understands:
//
//   - fragment: HTML. Each top-level element takes the place of the element with
//     the same id. With the attribute data-append, its children are added to that
//     element instead.
//   - status: one sentence, announced to screen readers.
//   - end: nothing more will come; the stream is closed by the browser.
//
// A fragment is rendered by the component that rendered the page: ChangeHead and
// Environment in page, Log and LogLines here, and so on.
package components
