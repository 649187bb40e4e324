// Package page has one component per page of the portal, whole with its frame.
// Like the parts in components, a page takes a view struct and decides nothing
// about who may see what: it renders what it is given.
package page
