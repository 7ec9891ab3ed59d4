# The cases of gRPC's interop suites that need neither TLS nor credentials of a cloud; sourced.
# shellcheck shell=bash disable=SC2034
interop_cases=(
    empty_unary large_unary client_streaming server_streaming ping_pong empty_stream
    timeout_on_sleeping_server cancel_after_begin cancel_after_first_response
    status_code_and_message special_status_message unimplemented_method unimplemented_service custom_metadata
    rpc_soak channel_soak
)

# The Java client alone has these.
compression_cases=(
    client_compressed_unary server_compressed_unary client_compressed_streaming server_compressed_streaming
)

# What Tern's client can ask of grpc-java's server: that one does not look whether requests are compressed, and Tern
# compresses the requests of a stream all or not at all.
tern_compression_cases=(client_compressed_unary_noprobe server_compressed_unary server_compressed_streaming)

# Failures count, not milliseconds: a machine that builds something else meanwhile is slow.
soak_flags=(
    --soak_iterations=50 --soak_overall_timeout_seconds=50 --soak_per_iteration_max_acceptable_latency_ms=20000
)
