package components

import "cmp"

// action is where the form goes when no button says otherwise.
func (v ReviewFormView) action() string {
	return cmp.Or(v.CommentURL, v.RejectURL, v.ApproveURL)
}

func (v ReviewFormView) comment() FieldView {
	field := FieldView{
		ID:        v.ID + "-comment",
		Name:      "comment",
		Label:     "Comment",
		Kind:      LongText,
		Value:     v.Comment,
		Problem:   v.Problem,
		MaxLength: 4000,
	}
	if v.RejectURL != "" {
		field.Hint = "Say why if you reject. Everybody who sees the change can read it."
	}
	return field
}
