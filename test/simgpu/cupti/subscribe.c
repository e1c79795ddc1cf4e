/* Subscribers, and the callbacks that they have asked for. */
#include "simgpu/cupti/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of 13.0; those of other releases are not known here. */
#define RUNTIME_CBIDS 523u
#define DRIVER_CBIDS  807u

struct sim_subscriber simc_subscribers[SIMC_SUBSCRIBERS];

static atomic_bool is_multi; /* the first subscriber let others in */

bool simc_is_live(sim_subscriber_handle subscriber)
{
    for (int i = 0; i < SIMC_SUBSCRIBERS; i++) {
        if (subscriber == &simc_subscribers[i])
            return subscriber->is_used;
    }
    return false;
}

bool simc_is_subscribed(void)
{
    for (int i = 0; i < SIMC_SUBSCRIBERS; i++) {
        if (simc_subscribers[i].is_used)
            return true;
    }
    return false;
}

bool simc_is_v2(void)
{
    return simc_subscribers[0].is_used && simc_subscribers[0].is_v2;
}

bool simc_refuses_kinds(void)
{
    return simc_option.v2_family == SIMC_V2_KINDS && simc_subscribers[0].is_used &&
           simc_subscribers[0].is_by_v2;
}

static void clear(struct sim_subscriber *subscriber)
{
    for (int domain = 0; domain < SIM_DOMAIN_COUNT; domain++) {
        for (uint32_t cbid = 0; cbid < SIMC_CBIDS; cbid++)
            subscriber->enabled[domain][cbid] = false;
    }
    for (uint32_t kind = 0; kind < SIM_KIND_COUNT; kind++)
        subscriber->session.kinds[kind] = false;
}

void simc_unsubscribe_all(void)
{
    for (int i = 0; i < SIMC_SUBSCRIBERS; i++) {
        clear(&simc_subscribers[i]);
        simc_subscribers[i].is_used = false;
    }
}

/* The first free place, if the rules let one more in. */
static struct sim_subscriber *place_for(bool allows_others)
{
    if (!simc_is_subscribed()) {
        is_multi = allows_others;
        return &simc_subscribers[0];
    }
    for (int i = 0; i < SIMC_SUBSCRIBERS && is_multi && allows_others; i++) {
        if (!simc_subscribers[i].is_used)
            return &simc_subscribers[i];
    }
    return NULL;
}

static int32_t subscribe(sim_subscriber_handle *out, sim_callback_fn callback, void *user,
                         const char *name, bool allows_others, bool is_by_v2)
{
    SIMC_NEED_DRIVER();
    if (!out)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&simc_lock);
    struct sim_subscriber *subscriber = place_for(allows_others);
    if (subscriber) {
        subscriber->callback = callback;
        subscriber->user = user;
        subscriber->is_by_v2 = is_by_v2;
        subscriber->is_v2 = allows_others || (is_by_v2 && simc_option.v2_family == SIMC_V2_APART);
        subscriber->index = (int)(subscriber - simc_subscribers);
        snprintf(subscriber->name, sizeof subscriber->name, SIM_SUBSCRIBER_PREFIX "%.*s",
                 SIM_SUBSCRIBER_NAME_MAX, name ? name : "");
        subscriber->is_used = true;
    }
    pthread_mutex_unlock(&simc_lock);
    if (!subscriber)
        return simc_fail(SIM_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    simc_listen();
    *out = subscriber;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiSubscribe(sim_subscriber_handle *out, sim_callback_fn callback, void *user)
{
    SIMC_ENTER(cuptiSubscribe);
    return subscribe(out, callback, user, NULL, false, false);
}

#if SIM_CUPTI_LIBRARY != 12
static void tell_owner(const sim_subscriber_params *params)
{
    if (!params || !params->oldSubscriberName || !params->oldSubscriberSize)
        return;
    const char *owner = simc_option.owner[0] ? simc_option.owner : simc_subscribers[0].name;
    snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", owner);
}

static bool allows_others(const sim_subscriber_params *params)
{
    return SIM_CUPTI_LIBRARY == 133 && params && params->structSize >= sizeof *params &&
           params->allowMultipleSubscribers;
}

int32_t cuptiSubscribe_v2(sim_subscriber_handle *out, sim_callback_fn callback, void *user,
                          sim_subscriber_params *params)
{
    int32_t status = simc_enter("cuptiSubscribe_v2");
    if (!status && params && params->structSize < SIM_SUBSCRIBER_PARAMS_13_0)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    if (!status)
        status = subscribe(out, callback, user, params ? params->subscriberName : NULL,
                           allows_others(params), true);
    if (status == SIM_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        tell_owner(params);
    return status;
}
#endif

int32_t cuptiUnsubscribe(sim_subscriber_handle subscriber)
{
    SIMC_ENTER(cuptiUnsubscribe);
    if (!subscriber)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    SIMC_NEED_DRIVER();
    if (!simc_is_live(subscriber))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    clear(subscriber);
    subscriber->is_used = false;
    return SIM_CUPTI_SUCCESS;
}

/* --- what is enabled ----------------------------------------------------------------------------
 */

/* Clients look through all ids, so that there must be no gaps where the real library has none; what
 * the simulator does not have goes by one name. NULL: the library ends before this id. */
static const char *name_of(uint32_t domain, uint32_t cbid)
{
    bool is_driver = domain == SIM_DOMAIN_DRIVER;
    if ((!is_driver && domain != SIM_DOMAIN_RUNTIME) ||
        cbid >= (is_driver ? DRIVER_CBIDS : RUNTIME_CBIDS))
        return NULL;
    if (cbid == 0)
        return "INVALID";
    const char *name = sim_callback_name((sim_domain)domain, cbid);
    return name ? name : is_driver ? "cuNotSimulated" : "cudaNotSimulated_v3020";
}

static bool is_callback(uint32_t domain, uint32_t cbid)
{
    static const uint8_t counts[SIM_DOMAIN_COUNT] = {
        [SIM_DOMAIN_RESOURCE] = 24, [SIM_DOMAIN_SYNCHRONIZE] = 3, [SIM_DOMAIN_STATE] = 4};
    if (domain == SIM_DOMAIN_DRIVER || domain == SIM_DOMAIN_RUNTIME)
        return name_of(domain, cbid) != NULL;
    if (domain == SIM_DOMAIN_NVTX)
        return cbid < 64;
    return domain < SIM_DOMAIN_COUNT && cbid < counts[domain];
}

int32_t cuptiEnableCallback(uint32_t enable, sim_subscriber_handle subscriber, uint32_t domain,
                            uint32_t cbid)
{
    SIMC_ENTER(cuptiEnableCallback);
    if (!simc_is_live(subscriber) || cbid >= SIMC_CBIDS || !is_callback(domain, cbid))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    subscriber->enabled[domain][cbid] = enable != 0;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiEnableDomain(uint32_t enable, sim_subscriber_handle subscriber, uint32_t domain)
{
    SIMC_ENTER(cuptiEnableDomain);
    if (!simc_is_live(subscriber) || domain == 0 || domain >= SIM_DOMAIN_COUNT)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    for (uint32_t cbid = 0; cbid < SIMC_CBIDS; cbid++)
        subscriber->enabled[domain][cbid] = enable != 0;
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiEnableAllDomains(uint32_t enable, sim_subscriber_handle subscriber)
{
    SIMC_ENTER(cuptiEnableAllDomains);
    if (!simc_is_live(subscriber))
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    for (uint32_t domain = 1; domain < SIM_DOMAIN_COUNT; domain++) {
        for (uint32_t cbid = 0; cbid < SIMC_CBIDS; cbid++)
            subscriber->enabled[domain][cbid] = enable != 0;
    }
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiGetCallbackState(uint32_t *enable, sim_subscriber_handle subscriber, uint32_t domain,
                              uint32_t cbid)
{
    SIMC_ENTER(cuptiGetCallbackState);
    if (!enable || !simc_is_live(subscriber) || domain >= SIM_DOMAIN_COUNT || cbid >= SIMC_CBIDS)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *enable = subscriber->enabled[domain][cbid];
    return SIM_CUPTI_SUCCESS;
}

int32_t cuptiSupportedDomains(size_t *count, const uint32_t **domains)
{
    static const uint32_t all[] = {1, 2, 3, 4, 5, 6};
    SIMC_ENTER(cuptiSupportedDomains);
    SIMC_NEED_DRIVER();
    if (!count || !domains)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *count = sizeof all / sizeof *all;
    *domains = all;
    return SIM_CUPTI_SUCCESS;
}

/* Only calls of the driver and the runtime have names. */
int32_t cuptiGetCallbackName(uint32_t domain, uint32_t cbid, const char **name)
{
    SIMC_ENTER(cuptiGetCallbackName);
    const char *found = name_of(domain, cbid);
    if (!name || !found)
        return simc_fail(SIM_CUPTI_ERROR_INVALID_PARAMETER);
    *name = found;
    return SIM_CUPTI_SUCCESS;
}

/* --- callbacks ----------------------------------------------------------------------------------
 */

static void call(struct sim_subscriber *subscriber, uint32_t domain, uint32_t cbid,
                 const void *data)
{
    if (!subscriber->is_used || !subscriber->callback || simc_option.no_callbacks ||
        cbid >= SIMC_CBIDS || !subscriber->enabled[domain][cbid])
        return;
    int before = simc_inside;
    simc_inside = (int)domain;
    subscriber->callback(subscriber->user, domain, cbid, data);
    simc_inside = before;
}

static void call_all(uint32_t domain, uint32_t cbid, const void *data)
{
    for (int i = 0; i < SIMC_SUBSCRIBERS; i++)
        call(&simc_subscribers[i], domain, cbid, data);
}

static void on_api(sim_call *api, uint32_t site)
{
    sim_callback_data data = {
        .callbackSite = site,
        .functionName = api->function,
        .functionParams = api->params,
        .functionReturnValue = site == SIM_API_EXIT ? &api->result : NULL,
        .symbolName = api->kernel,
        .context = api->context,
        .contextUid = api->context_id,
        .correlationId = api->correlation,
    };
    for (int i = 0; i < SIMC_SUBSCRIBERS; i++) {
        data.correlationData = &api->slot[i];
        call(&simc_subscribers[i], api->domain, api->cbid, &data);
    }
}

/* CUPTI 13.0 reads from NULL. */
static void crash_if_not_whole(const sim_call *api)
{
    if (api->domain != SIM_DRIVER || strncmp(api->function, "cuGraphLaunch", 13) != 0)
        return;
    uint32_t exec = sim_graph_exec_id(*(void *const *)api->params);
    for (int n = 0; exec && n < SIMC_SESSIONS; n++) {
        const simc_session *session = simc_session_at(n);
        if (!session->kinds[SIM_KIND_GRAPH_TRACE] || session->whole_graphs[(uint16_t)exec])
            continue;
        fprintf(stderr, "simgpu: launches a graph from before GRAPH_TRACE was on: CUPTI crashes\n");
        abort();
    }
}

static void on_enter(sim_call *api)
{
    on_api(api, SIM_API_ENTER);
    crash_if_not_whole(api);
}

static void on_exit_of(sim_call *api)
{
    simc_on_api(api);
    on_api(api, SIM_API_EXIT);
}

static const uint8_t resource_cbids[] = {
    [SIM_INIT_FINISHED] = SIM_RESOURCE_CU_INIT_FINISHED,
    [SIM_CONTEXT_CREATED] = SIM_RESOURCE_CONTEXT_CREATED,
    [SIM_CONTEXT_DESTROY_STARTING] = SIM_RESOURCE_CONTEXT_DESTROY_STARTING,
    [SIM_STREAM_CREATED] = SIM_RESOURCE_STREAM_CREATED,
    [SIM_STREAM_DESTROY_STARTING] = SIM_RESOURCE_STREAM_DESTROY_STARTING,
    [SIM_GRAPH_CREATED] = SIM_RESOURCE_GRAPH_CREATED,
    [SIM_GRAPH_CLONED] = SIM_RESOURCE_GRAPH_CLONED,
    [SIM_GRAPH_DESTROY_STARTING] = SIM_RESOURCE_GRAPH_DESTROY_STARTING,
    [SIM_GRAPH_NODE_CREATED] = SIM_RESOURCE_GRAPHNODE_CREATED,
    [SIM_GRAPH_NODE_CLONED] = SIM_RESOURCE_GRAPHNODE_CLONED,
    [SIM_GRAPH_EXEC_CREATED] = SIM_RESOURCE_GRAPHEXEC_CREATED,
    [SIM_GRAPH_EXEC_DESTROY_STARTING] = SIM_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
};

static void on_resource(const sim_resource *resource)
{
    sim_graph_data graph = {
        .graph = resource->graph,
        .originalGraph = resource->original_graph,
        .node = resource->node,
        .originalNode = resource->original_node,
        .nodeType = resource->node_type,
        .dependency = resource->dependency,
        .graphExec = resource->graph_exec,
    };
    sim_resource_data data = {resource->context, resource->stream, NULL};
    if (resource->kind >= SIM_GRAPH_CREATED)
        data.resourceDescriptor = &graph;
    if (resource->kind == SIM_CONTEXT_DESTROY_STARTING && simc_option.reset_loses)
        simc_lose_all();
    simc_on_resource_record(resource);
    call_all(SIM_DOMAIN_RESOURCE, resource_cbids[resource->kind], &data);
}

typedef struct stream_search {
    uint32_t context;
    uint32_t id;
    sim_synchronize_data found;
} stream_search;

static void match_stream(const sim_stream_info *stream, void *data)
{
    stream_search *search = data;
    if (stream->context_id == search->context && stream->id == search->id)
        search->found = (sim_synchronize_data){stream->context, stream->handle};
}

static void match_context(const sim_context_info *context, void *data)
{
    stream_search *search = data;
    if (context->id == search->context)
        search->found.context = context->handle;
}

void simc_synchronized(const sim_record *record)
{
    bool is_stream = record->sync_type == 3;
    if (!is_stream && record->sync_type != 4)
        return;
    stream_search search = {record->context, record->stream, {NULL, NULL}};
    if (is_stream)
        sim_each_stream(match_stream, &search);
    else
        sim_each_context(match_context, &search);
    call_all(SIM_DOMAIN_SYNCHRONIZE, is_stream ? SIM_SYNCHRONIZE_STREAM : SIM_SYNCHRONIZE_CONTEXT,
             &search.found);
}

void simc_state_event(uint32_t cbid, int32_t result, const char *message)
{
    sim_state_data data = {(uint32_t)result, message};
    call_all(SIM_DOMAIN_STATE, cbid, &data);
}

void simc_listen(void)
{
    static const sim_sink sink = {on_enter, on_exit_of, simc_on_record, on_resource};
    static atomic_bool is_listening;
    if (!atomic_exchange(&is_listening, true))
        sim_set_sink(&sink);
}
