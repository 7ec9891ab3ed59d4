package tern.rpc.registry.dubbo.metadata;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.JavaShape;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.ProtoWriter;

/**
 * Encodes and decodes the messages of version 2.0.0 of Dubbo's metadata service, without a protobuf library (Dubbo 3.3,
 * {@code metadata_service_v2.proto}).
 */
final class MetadataMessages {

    static final String VERSION = "2.0.0";

    static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            "org.apache.dubbo.metadata.MetadataServiceV2",
            List.of(new ServiceDescriptor.Operation(
                    "GetMetadataInfo",
                    MethodType.UNARY,
                    byte[].class,
                    byte[].class,
                    JavaShape.PUBLISHER,
                    ServiceDescriptor.Effects.NONE)));

    // The field numbers of a request, of the metadata, of a service, and of a map entry.
    private static final int REQUESTED_REVISION = 1;
    private static final int APPLICATION = 1;
    private static final int REVISION = 2;
    private static final int SERVICES = 3;
    private static final int NAME = 1;
    private static final int GROUP = 2;
    private static final int SERVICE_VERSION = 3;
    private static final int PROTOCOL = 4;
    private static final int PORT = 5;
    private static final int PATH = 6;
    private static final int PARAMETERS = 7;
    private static final int KEY = 1;
    private static final int VALUE = 2;

    private MetadataMessages() {}

    static byte[] request(String revision) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.text(out, REQUESTED_REVISION, revision);
        return out.toByteArray();
    }

    static byte[] answer(ApplicationMetadata metadata) {
        OutputBuffer out = new OutputBuffer();
        ProtoWriter.text(out, APPLICATION, metadata.application());
        ProtoWriter.text(out, REVISION, metadata.revision());
        metadata.services().forEach((key, service) -> {
            int entry = ProtoWriter.begin(out, SERVICES);
            ProtoWriter.text(out, KEY, key);
            int value = ProtoWriter.begin(out, VALUE);
            write(service, out);
            ProtoWriter.end(out, value);
            ProtoWriter.end(out, entry);
        });
        return out.toByteArray();
    }

    private static void write(ApplicationMetadata.Service service, OutputBuffer out) {
        ProtoWriter.text(out, NAME, service.name());
        ProtoWriter.text(out, GROUP, service.group());
        ProtoWriter.text(out, SERVICE_VERSION, service.version());
        ProtoWriter.text(out, PROTOCOL, service.protocol());
        ProtoWriter.number(out, PORT, service.port());
        ProtoWriter.text(out, PATH, service.path());
        service.parameters().forEach((key, value) -> {
            int entry = ProtoWriter.begin(out, PARAMETERS);
            ProtoWriter.text(out, KEY, key);
            ProtoWriter.text(out, VALUE, value);
            ProtoWriter.end(out, entry);
        });
    }

    /**
     * Decodes a response. Unknown fields are skipped.
     *
     * @throws IllegalArgumentException if the response exceeds the limits
     * @throws tern.rpc.serialization.SerializationException if the bytes are not a protobuf message
     */
    static ApplicationMetadata metadata(byte[] answer) {
        Limits.check("the length of the metadata", answer.length, Limits.MAX_METADATA);
        String application = "";
        String revision = "";
        Map<String, ApplicationMetadata.Service> services = new TreeMap<>();
        ProtoReader fields = new ProtoReader(answer, 0, answer.length);
        while (fields.next()) {
            if (fields.is(APPLICATION, ProtoReader.BYTES)) {
                application = fields.text();
            } else if (fields.is(REVISION, ProtoReader.BYTES)) {
                revision = fields.text();
            } else if (fields.is(SERVICES, ProtoReader.BYTES)) {
                addService(nested(answer, fields), answer, services);
                Limits.check("the number of services", services.size(), Limits.MAX_SERVICES);
            } else {
                fields.skip();
            }
        }
        return new ApplicationMetadata(application, revision, services);
    }

    /** Returns a reader for the message in the current field, and moves to the end of the field. */
    private static ProtoReader nested(byte[] message, ProtoReader fields) {
        int length = fields.bytes();
        return new ProtoReader(message, fields.position() - length, length);
    }

    private static void addService(
            ProtoReader entry, byte[] message, Map<String, ApplicationMetadata.Service> services) {
        String key = "";
        ApplicationMetadata.Service service = service(new ProtoReader(message, 0, 0), message);
        while (entry.next()) {
            if (entry.is(KEY, ProtoReader.BYTES)) {
                key = entry.text();
            } else if (entry.is(VALUE, ProtoReader.BYTES)) {
                service = service(nested(message, entry), message);
            } else {
                entry.skip();
            }
        }
        services.put(key, service);
    }

    private static ApplicationMetadata.Service service(ProtoReader fields, byte[] message) {
        String[] texts = {"", "", "", "", "", "", ""}; // the text fields of the service, indexed by their field numbers
        int port = 0;
        Map<String, String> parameters = new TreeMap<>();
        while (fields.next()) {
            if (fields.is(PORT, ProtoReader.VARINT)) {
                port = ApplicationMetadata.port(fields.varint());
            } else if (fields.is(PARAMETERS, ProtoReader.BYTES)) {
                addParameter(nested(message, fields), parameters);
                Limits.check("the number of parameters", parameters.size(), Limits.MAX_KEYS);
            } else if (fields.field() <= PATH && fields.wireType() == ProtoReader.BYTES) {
                texts[fields.field()] = fields.text();
            } else {
                fields.skip();
            }
        }
        return new ApplicationMetadata.Service(
                texts[NAME], texts[GROUP], texts[SERVICE_VERSION], texts[PROTOCOL], port, texts[PATH], parameters);
    }

    private static void addParameter(ProtoReader entry, Map<String, String> parameters) {
        String key = "";
        String value = "";
        while (entry.next()) {
            if (entry.is(KEY, ProtoReader.BYTES)) {
                key = entry.text();
            } else if (entry.is(VALUE, ProtoReader.BYTES)) {
                value = entry.text();
            } else {
                entry.skip();
            }
        }
        parameters.put(key, value);
    }
}
