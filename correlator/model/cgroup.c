/* See cgroup.h. */
#include "correlator/model/cgroup.h"

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_name.h"
#include "correlator/model/model.h"
#include "correlator/store/writer.h"

struct cgroup *cgroup_known(struct model *model, uint64_t cgroup_id)
{
	struct cgroup *cgroup = model->latest_cgroup;

	if (cgroup && cgroup->cgroup_id == cgroup_id)
		return cgroup;
	HASH_FIND(hh, model->cgroups, &cgroup_id, sizeof(cgroup_id), cgroup);
	if (cgroup)
		model->latest_cgroup = cgroup;
	return cgroup;
}

struct cgroup *cgroup_add(struct model *model, uint64_t cgroup_id, const char *path, size_t size)
{
	struct cgroup *cgroup = cgroup_known(model, cgroup_id);
	struct container_name name;

	if (cgroup)
		return cgroup;
	cgroup = model_alloc(model, sizeof(*cgroup));
	if (!cgroup)
		return NULL;
	cgroup->cgroup_id = cgroup_id;
	cgroup_limits_init(&cgroup->limits);
	cgroup->path = strndup(path, size);
	if (!cgroup->path) {
		model->out_of_memory = true;
		free(cgroup);
		return NULL;
	}
	if (container_parse(model->options.rules, cgroup->path, &name))
		cgroup->container = container_get(model, &name, cgroup->path, NULL);
	cgroup_set_dirty(model, cgroup);
	HASH_ADD(hh, model->cgroups, cgroup_id, sizeof(cgroup->cgroup_id), cgroup);
	return cgroup;
}

int64_t cgroup_row_id(const struct model *model, uint64_t cgroup_id)
{
	struct identity identity;

	model_begin_identity(model, "cgroup", &identity);
	identity_add_u64(&identity, cgroup_id);
	return identity_end(&identity);
}

/* Loads a cgroup that was freed, or recorded by a previous correlator. It is written again, as the
 * most recently used. */
static struct cgroup *cgroup_load(struct model *model, uint64_t cgroup_id)
{
	const struct store_parameter row[] = {{"cgroup_row_id", STORE_INTEGER, cgroup_row_id(model, cgroup_id), NULL},
					      {0}};
	struct store_result *result;
	struct cgroup *cgroup = NULL;

	if (store_query_own(model->store, "cgroup_path", row, &result) < 0)
		return NULL;
	if (store_result_next(result) == 1) {
		struct store_value path = store_result_get(result, "path");

		cgroup = cgroup_add(model, cgroup_id, path.data, path.size);
	}
	store_result_free(result);
	return cgroup;
}

struct cgroup *cgroup_find(struct model *model, uint64_t cgroup_id)
{
	struct cgroup *cgroup = cgroup_id ? cgroup_known(model, cgroup_id) : NULL;

	return cgroup || !cgroup_id ? cgroup : cgroup_load(model, cgroup_id);
}

void cgroup_free(struct model *model, struct cgroup *cgroup)
{
	if (model->latest_cgroup == cgroup)
		model->latest_cgroup = NULL;
	command_forget_latest(&model->latest_command);
	MODEL_FORGET_DIRTY(model->dirty_cgroups, cgroup);
	HASH_DELETE(hh, model->cgroups, cgroup);
	free(cgroup->path);
	free(cgroup);
}

void cgroup_forget_all(struct model *model)
{
	struct cgroup *cgroup, *next;

	HASH_ITER (hh, model->cgroups, cgroup, next)
		cgroup_free(model, cgroup);
	model->next_sweep_boot_ns = model->next_renewal_boot_ns = 0;
}
