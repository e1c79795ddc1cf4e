// Compares every declaration of src/cuda/abi.h with the toolkit's headers. Compiling it is the
// test.
#include "cuda/abi.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti.h>
#include <type_traits>

#define FIELD(type, member) (static_cast<type *>(nullptr)->member)
#define AT(type, member)    __builtin_offsetof(type, member)

#define CHECK_KIND(name, number) static_assert(CUPTI_ACTIVITY_KIND_##name == number, "kind " #name);
TKT_CUPTI_KIND_LIST(CHECK_KIND)
static_assert(CUPTI_ACTIVITY_KIND_COUNT <= static_cast<int>(TKT_CUPTI_KINDS), "kinds");

#define CHECK_RECORD(name, number, type, bytes)                                                    \
    static_assert(sizeof(type) == bytes && AT(type, kind) == 0 && sizeof FIELD(type, kind) == 4,   \
                  "record " #name);
TKT_CUPTI_RECORD_LIST(CHECK_RECORD)

#define CHECK_FIELD(name, type, member, offset, bytes)                                             \
    static_assert(AT(type, member) == offset && sizeof FIELD(type, member) == bytes,               \
                  "field " #name);
TKT_CUPTI_FIELD_LIST(CHECK_FIELD)

#define CHECK_NUMBER(name, theirs, value) static_assert(int(theirs) == value, #name);
TKT_CUPTI_NUMBER_LIST(CHECK_NUMBER)
TKT_CUDA_NUMBER_LIST(CHECK_NUMBER)

#define CHECK_ATTRIBUTE(field, name, number)                                                       \
    static_assert(CU_DEVICE_ATTRIBUTE_##name == number, "attribute " #name);
TKT_DEVICE_ATTRIBUTE_LIST(CHECK_ATTRIBUTE)

#define CHECK_MEMBER(ours, member, theirs, their_member)                                           \
    static_assert(AT(ours, member) == AT(theirs, their_member) &&                                  \
                      sizeof FIELD(ours, member) == sizeof FIELD(theirs, their_member),            \
                  #theirs "::" #their_member);
CHECK_MEMBER(tkt_callback_data, site, CUpti_CallbackData, callbackSite)
CHECK_MEMBER(tkt_callback_data, function_name, CUpti_CallbackData, functionName)
CHECK_MEMBER(tkt_callback_data, parameters, CUpti_CallbackData, functionParams)
CHECK_MEMBER(tkt_callback_data, result, CUpti_CallbackData, functionReturnValue)
CHECK_MEMBER(tkt_callback_data, symbol_name, CUpti_CallbackData, symbolName)
CHECK_MEMBER(tkt_callback_data, context, CUpti_CallbackData, context)
CHECK_MEMBER(tkt_callback_data, context_id, CUpti_CallbackData, contextUid)
CHECK_MEMBER(tkt_callback_data, correlation_data, CUpti_CallbackData, correlationData)
CHECK_MEMBER(tkt_callback_data, correlation, CUpti_CallbackData, correlationId)
CHECK_MEMBER(tkt_resource_data, context, CUpti_ResourceData, context)
CHECK_MEMBER(tkt_resource_data, stream, CUpti_ResourceData, resourceHandle)
CHECK_MEMBER(tkt_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor)
CHECK_MEMBER(tkt_graph_data, executable, CUpti_GraphData, graphExec)
CHECK_MEMBER(tkt_subscriber_params, bytes, CUpti_SubscriberParams, structSize)
CHECK_MEMBER(tkt_subscriber_params, name, CUpti_SubscriberParams, subscriberName)
CHECK_MEMBER(tkt_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName)
CHECK_MEMBER(tkt_subscriber_params, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize)
static_assert(sizeof(tkt_subscriber_params) >= CUpti_SubscriberParams_STRUCT_SIZE, "parameters");

// Equal to the calling convention: as many arguments, of the same sizes, pointers where pointers
// are.
template <class A, class B>
constexpr bool
    passed_alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class R, class... A, class S, class... B>
constexpr bool called_alike(R (*)(A...), S (*)(B...))
{
    if constexpr (sizeof...(A) != sizeof...(B))
        return false;
    else
        return std::is_void_v<R> == std::is_void_v<S> && (passed_alike<A, B> && ...);
}

#define CHECK_FUNCTION(member, symbol, is_required, parameters)                                    \
    static_assert(called_alike(static_cast<int(*) parameters>(nullptr),                            \
                               static_cast<decltype(&symbol)>(nullptr)),                           \
                  #symbol);
TKT_CUPTI_FUNCTION_LIST(CHECK_FUNCTION)
TKT_DRIVER_FUNCTION_LIST(CHECK_FUNCTION)

static_assert(called_alike(tkt_cupti_callback(nullptr), CUpti_CallbackFunc(nullptr)), "callback");
static_assert(called_alike(tkt_cupti_requested(nullptr), CUpti_BuffersCallbackRequestFunc(nullptr)),
              "requested");
static_assert(called_alike(tkt_cupti_completed(nullptr),
                           CUpti_BuffersCallbackCompleteFunc(nullptr)),
              "completed");

int main()
{
    return 0;
}
