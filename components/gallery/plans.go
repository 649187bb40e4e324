package gallery

import "github.com/towpath-dev/towpath/components"

func known(text string) components.ValueView {
	return components.ValueView{State: components.Known, Text: text}
}

var (
	masked  = components.ValueView{State: components.Secret}
	unknown = components.ValueView{State: components.Unknown}
)

func planReplace(id string) components.PlanView {
	return components.PlanView{
		ID:          id,
		Consequence: "Replaces the database volume of orders-db: its data is lost unless it is restored afterwards. One Deployment is updated in place.",
		Counts:      components.CountsView{Update: 1, Replace: 1, Create: 1, Same: 9},
		Steps: []components.StepView{
			{Op: components.Create, Name: "shop-prod/orders-web", Kind: "PodDisruptionBudget", Instance: "orders-web", Changes: []components.ChangeView{
				{Path: "spec.minAvailable", New: known("1")},
			}},
			{Op: components.Update, Name: "shop-prod/orders-web", Kind: "Deployment", Instance: "orders-web", Changes: []components.ChangeView{
				{Path: "spec.replicas", Old: known("2"), New: known("3")},
				{Path: "spec.template.spec.containers[0].image", Old: known("ghcr.io/acme/orders:1.0.0"), New: known("ghcr.io/acme/orders:1.1.0")},
				{Path: "spec.template.spec.containers[0].env[DATABASE_PASSWORD]", Old: masked, New: masked},
				{Path: "spec.template.spec.containers[0].env[DATABASE_VOLUME]", Old: known("orders-db-data"), New: unknown},
				{Path: "metadata.annotations[checked-by]", Old: known("hand")},
			}},
			{Op: components.Replace, Name: "shop-prod/orders-db-data", Kind: "PersistentVolumeClaim", Instance: "orders-db", Reason: "Replaced because spec.storageClassName changes", Changes: []components.ChangeView{
				{Path: "spec.storageClassName", Old: known("standard"), New: known("ssd"), Forces: true},
				{Path: "spec.resources.requests.storage", Old: known("10Gi"), New: known("50Gi")},
			}},
		},
	}
}

func planDelete(id string) components.PlanView {
	return components.PlanView{
		ID:          id,
		Consequence: "Deletes the StatefulSet search-cache and 2 more resources. Nothing brings their data back.",
		Counts:      components.CountsView{Delete: 3, Same: 4},
		Steps: []components.StepView{
			{Op: components.Delete, Name: "shop-test/search-cache", Kind: "StatefulSet", Instance: "search-cache"},
			{Op: components.Delete, Name: "shop-test/search-cache", Kind: "Service", Instance: "search-cache"},
			{Op: components.Delete, Name: "search-cache-zone", Kind: "Zone", Where: "eu-central"},
		},
		Omitted: 2,
	}
}

func planUpdate(id string) components.PlanView {
	return components.PlanView{
		ID:          id,
		Consequence: "Updates one Deployment in place; its pods restart one after the other.",
		Counts:      components.CountsView{Update: 1, Same: 11},
		Steps: []components.StepView{
			{Op: components.Update, Name: "shop-test/orders-web", Kind: "Deployment", Instance: "orders-web", Omitted: 3, Changes: []components.ChangeView{
				{Path: "spec.replicas", Old: known("2"), New: known("3")},
			}},
		},
	}
}

func planCreate(id string) components.PlanView {
	return components.PlanView{
		ID:          id,
		Consequence: "Only creates: nothing that exists is touched.",
		Counts:      components.CountsView{Create: 5},
		Steps: []components.StepView{
			{Op: components.Create, Name: "shop-dev/orders-db", Kind: "StatefulSet", Instance: "orders-db", Changes: []components.ChangeView{
				{Path: "spec.serviceName", New: known("orders-db")},
				{Path: "spec.template.spec.containers[0].env[POSTGRES_PASSWORD]", New: masked},
				{Path: "status.currentRevision", New: unknown},
			}},
			{Op: components.Create, Name: "shop-dev/orders-db", Kind: "Service", Instance: "orders-db"},
			{Op: components.Create, Name: "shop-dev/orders-db-credentials", Kind: "Secret", Instance: "orders-db"},
			{Op: components.Create, Name: "shop-dev/orders-web", Kind: "Deployment", Instance: "orders-web", Omitted: 14, Changes: []components.ChangeView{
				{Path: "spec.replicas", New: known("1")},
			}},
			{Op: components.Create, Name: "shop-dev/orders-web", Kind: "Service", Instance: "orders-web"},
		},
	}
}
