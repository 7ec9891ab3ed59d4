package tern.rpc.reflection;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Empty;
import com.google.protobuf.ListValue;
import com.google.protobuf.Value;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;

/**
 * A generated protobuf file for a service that has no {@code .proto} file. Each method's Java signature is added as a
 * comment, because the {@code Value} type contains little information.
 */
final class MadeFile {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern FULL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*");

    private static final Pattern PACKAGE = Pattern.compile("\\b[a-z]\\w*\\.");

    /**
     * The field numbers of FileDescriptorProto.service and ServiceDescriptorProto.method. In SourceCodeInfo, the path
     * of a comment consists of field numbers and indexes (descriptor.proto).
     */
    private static final int FILE_SERVICE = 6;

    private static final int SERVICE_METHOD = 2;

    private final ServiceDescriptor service;
    private final ServiceDescriptorProto.Builder described = ServiceDescriptorProto.newBuilder();
    private final FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder();
    private final Set<FileDescriptor> dependencies = new LinkedHashSet<>();

    private MadeFile(ServiceDescriptor service) {
        this.service = service;
    }

    /**
     * Returns the generated file; null if protobuf does not permit the service's name, or if no method can be
     * described.
     */
    static @Nullable MadeFile of(ServiceDescriptor service) {
        if (!FULL_NAME.matcher(service.name()).matches()) {
            return null;
        }
        MadeFile made = new MadeFile(service);
        for (MethodDescriptor method : service.methods()) {
            if (IDENTIFIER.matcher(method.name()).matches()
                    && service.overloads(method.name()).size() == 1) {
                made.add(method);
            }
        }
        return made.described.getMethodCount() == 0 ? null : made.finished();
    }

    FileDescriptorProto file() {
        return file.build();
    }

    Set<FileDescriptor> dependencies() {
        return dependencies;
    }

    private MadeFile finished() {
        int lastDot = service.name().lastIndexOf('.');
        file.setName("tern/" + service.name() + ".proto").setSyntax("proto3");
        if (lastDot > 0) {
            file.setPackage(service.name().substring(0, lastDot));
        }
        file.addService(described.setName(service.name().substring(lastDot + 1)));
        dependencies.forEach(dependency -> file.addDependency(dependency.getName()));
        return this;
    }

    private void add(MethodDescriptor method) {
        Descriptor request = request(method);
        Descriptor response =
                method.payload() == Payload.PROTOBUF ? ServiceFiles.message(method.result()) : Value.getDescriptor();
        if (method.payload() == Payload.RAW || request == null || response == null) {
            return;
        }
        if (method.payload() == Payload.JAVA) {
            file.getSourceCodeInfoBuilder()
                    .addLocation(Location.newBuilder()
                            .addAllPath(List.of(FILE_SERVICE, 0, SERVICE_METHOD, described.getMethodCount()))
                            .addAllSpan(List.of(0, 0, 0))
                            .setLeadingComments(" " + signature(method) + "\n"));
        }
        dependencies.add(request.getFile());
        dependencies.add(response.getFile());
        described.addMethod(MethodDescriptorProto.newBuilder()
                .setName(method.name())
                .setInputType("." + request.getFullName())
                .setOutputType("." + response.getFullName())
                .setClientStreaming(method.type().clientStreams())
                .setServerStreaming(method.type().serverStreams()));
    }

    private static @Nullable Descriptor request(MethodDescriptor method) {
        List<ValueType> parameters = method.parameters();
        if (method.payload() == Payload.PROTOBUF) {
            return parameters.isEmpty() ? Empty.getDescriptor() : ServiceFiles.message(parameters.get(0));
        }
        return parameters.size() == 1 ? Value.getDescriptor() : ListValue.getDescriptor();
    }

    /** Returns a method's Java signature without package names. */
    private static String signature(MethodDescriptor method) {
        String full = IntStream.range(0, method.parameters().size())
                .mapToObj(i -> method.parameters().get(i) + " "
                        + method.parameterNames().get(i))
                .collect(Collectors.joining(", ", method.result() + " " + method.name() + "(", ")"));
        return PACKAGE.matcher(full).replaceAll("");
    }
}
