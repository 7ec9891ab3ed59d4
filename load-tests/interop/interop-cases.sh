# The cases of gRPC's interop suites that need neither TLS nor cloud credentials. Sourced by other scripts.
# shellcheck shell=bash disable=SC2034
interop_cases=(
    empty_unary large_unary client_streaming server_streaming ping_pong empty_stream
    timeout_on_sleeping_server cancel_after_begin cancel_after_first_response
    status_code_and_message special_status_message unimplemented_method unimplemented_service custom_metadata
    rpc_soak channel_soak
)

# The additional cases that only the interop client of grpc-java has.
compression_cases=(
    client_compressed_unary server_compressed_unary client_compressed_streaming server_compressed_streaming
)

# The cases that Tern's client can run against grpc-java's server. Two kinds of cases are missing. grpc-java's server
# does not check whether requests are compressed, and Tern cannot compress only some requests of a stream.
tern_compression_cases=(client_compressed_unary_noprobe server_compressed_unary server_compressed_streaming)

# The time limits are long, because the machine may be busy. Only failures matter.
soak_flags=(
    --soak_iterations=50 --soak_overall_timeout_seconds=50 --soak_per_iteration_max_acceptable_latency_ms=20000
)
