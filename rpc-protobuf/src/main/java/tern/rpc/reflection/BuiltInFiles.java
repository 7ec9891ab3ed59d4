package tern.rpc.reflection;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import java.util.List;
import java.util.Map;

/**
 * The published {@code .proto} files of the services whose messages Tern encodes without protobuf
 * (docs/wire-protocol.md 6).
 */
final class BuiltInFiles {

    private static final String HEALTH = "grpc.health.v1.Health";

    private static final Map<String, FileDescriptorProto> FILES = Map.of(
            HEALTH,
            health(),
            reflectionService("v1"),
            reflection("v1"),
            reflectionService("v1alpha"),
            reflection("v1alpha"));

    private BuiltInFiles() {}

    /**
     * Returns the full name of the reflection service.
     *
     * @param version the protocol version, such as {@code v1}
     */
    static String reflectionService(String version) {
        return "grpc.reflection." + version + ".ServerReflection";
    }

    static boolean describes(String service) {
        return FILES.containsKey(service);
    }

    static FileDescriptorProto of(String service) {
        FileDescriptorProto file = FILES.get(service);
        if (file == null) {
            throw new IllegalArgumentException(service + " is not built in");
        }
        return file;
    }

    private static FileDescriptorProto health() {
        String request = ".grpc.health.v1.HealthCheckRequest";
        String response = ".grpc.health.v1.HealthCheckResponse";
        EnumDescriptorProto.Builder statuses = EnumDescriptorProto.newBuilder().setName("ServingStatus");
        for (String status : List.of("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")) {
            statuses.addValue(
                    EnumValueDescriptorProto.newBuilder().setName(status).setNumber(statuses.getValueCount()));
        }
        return file("grpc/health/v1/health.proto", "grpc.health.v1")
                .addMessageType(message("HealthCheckRequest").addField(text("service", 1)))
                .addMessageType(message("HealthCheckResponse")
                        .addField(field("status", 1, Type.TYPE_ENUM).setTypeName(response + ".ServingStatus"))
                        .addEnumType(statuses))
                .addService(ServiceDescriptorProto.newBuilder()
                        .setName("Health")
                        .addMethod(method("Check", request, response))
                        .addMethod(method("Watch", request, response).setServerStreaming(true)))
                .build();
    }

    private static FileDescriptorProto reflection(String version) {
        String scope = ".grpc.reflection." + version + ".";
        return file("grpc/reflection/" + version + "/reflection.proto", "grpc.reflection." + version)
                .addMessageType(message("ServerReflectionRequest")
                        .addOneofDecl(OneofDescriptorProto.newBuilder().setName("message_request"))
                        .addField(text("host", 1))
                        .addField(text("file_by_filename", 3).setOneofIndex(0))
                        .addField(text("file_containing_symbol", 4).setOneofIndex(0))
                        .addField(part("file_containing_extension", 5, scope + "ExtensionRequest")
                                .setOneofIndex(0))
                        .addField(text("all_extension_numbers_of_type", 6).setOneofIndex(0))
                        .addField(text("list_services", 7).setOneofIndex(0)))
                .addMessageType(message("ExtensionRequest")
                        .addField(text("containing_type", 1))
                        .addField(field("extension_number", 2, Type.TYPE_INT32)))
                .addMessageType(message("ServerReflectionResponse")
                        .addOneofDecl(OneofDescriptorProto.newBuilder().setName("message_response"))
                        .addField(text("valid_host", 1))
                        .addField(part("original_request", 2, scope + "ServerReflectionRequest"))
                        .addField(part("file_descriptor_response", 4, scope + "FileDescriptorResponse")
                                .setOneofIndex(0))
                        .addField(part("all_extension_numbers_response", 5, scope + "ExtensionNumberResponse")
                                .setOneofIndex(0))
                        .addField(part("list_services_response", 6, scope + "ListServiceResponse")
                                .setOneofIndex(0))
                        .addField(part("error_response", 7, scope + "ErrorResponse")
                                .setOneofIndex(0)))
                .addMessageType(message("FileDescriptorResponse")
                        .addField(repeated(field("file_descriptor_proto", 1, Type.TYPE_BYTES))))
                .addMessageType(message("ExtensionNumberResponse")
                        .addField(text("base_type_name", 1))
                        .addField(repeated(field("extension_number", 2, Type.TYPE_INT32))))
                .addMessageType(message("ListServiceResponse")
                        .addField(repeated(part("service", 1, scope + "ServiceResponse"))))
                .addMessageType(message("ServiceResponse").addField(text("name", 1)))
                .addMessageType(message("ErrorResponse")
                        .addField(field("error_code", 1, Type.TYPE_INT32))
                        .addField(text("error_message", 2)))
                .addService(ServiceDescriptorProto.newBuilder()
                        .setName("ServerReflection")
                        .addMethod(method(
                                        "ServerReflectionInfo",
                                        scope + "ServerReflectionRequest",
                                        scope + "ServerReflectionResponse")
                                .setClientStreaming(true)
                                .setServerStreaming(true)))
                .build();
    }

    private static FileDescriptorProto.Builder file(String name, String packageName) {
        return FileDescriptorProto.newBuilder()
                .setName(name)
                .setPackage(packageName)
                .setSyntax("proto3");
    }

    private static DescriptorProto.Builder message(String name) {
        return DescriptorProto.newBuilder().setName(name);
    }

    private static MethodDescriptorProto.Builder method(String name, String request, String response) {
        return MethodDescriptorProto.newBuilder()
                .setName(name)
                .setInputType(request)
                .setOutputType(response);
    }

    private static FieldDescriptorProto.Builder text(String name, int number) {
        return field(name, number, Type.TYPE_STRING);
    }

    private static FieldDescriptorProto.Builder part(String name, int number, String type) {
        return field(name, number, Type.TYPE_MESSAGE).setTypeName(type);
    }

    private static FieldDescriptorProto.Builder repeated(FieldDescriptorProto.Builder field) {
        return field.setLabel(Label.LABEL_REPEATED);
    }

    private static FieldDescriptorProto.Builder field(String name, int number, Type type) {
        return FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(Label.LABEL_OPTIONAL);
    }
}
