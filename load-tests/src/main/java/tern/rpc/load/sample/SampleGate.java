package tern.rpc.load.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import tern.rpc.load.gate.SloGate;
import tern.sample.api.ScheduleService;

/**
 * Starts the sample provider, runs {@link SloGate} on {@code ScheduleService.schedule}, and stops the provider. {@code
 * schedule} is the most expensive method in the samples: it uses SQL, Redis, HTTP, logging and a thread pool.
 */
public final class SampleGate {

    private static final String JAR = "--jar=";
    private static final String WORK = "--work=";
    private static final String PROVIDER = "--provider=";

    private static final List<String> TENANTS = List.of("north", "south");
    private static final List<String> SKILLS = List.of("billing", "repair", "sales");

    private SampleGate() {}

    /**
     * @param arguments {@code --jar=} the provider's jar, {@code --work=} a folder for logs, {@code --provider=} the
     *     provider's properties, separated by spaces; all other arguments are passed to the gate
     */
    public static void main(String[] arguments) throws Exception {
        System.exit(run(List.of(arguments)));
    }

    private static int run(List<String> arguments) throws IOException, InterruptedException {
        Path work = Files.createDirectories(Path.of(value(arguments, WORK))).toAbsolutePath();
        List<String> properties = new ArrayList<>(List.of("--rpc.server.port=0"));
        Arrays.stream(value(arguments, PROVIDER).split("\\s+"))
                .filter(property -> !property.isEmpty())
                .forEach(properties::add);
        System.out.println("Starting the sample provider ...");
        try (SampleProgram provider =
                SampleProgram.start("provider", Path.of(value(arguments, JAR)), work, properties, 0)) {
            return SloGate.run(gate(provider.awaitReady(), work, arguments), System.out, System.err);
        } catch (IOException e) {
            System.err.println("sample-gate: " + e.getMessage());
            return 2;
        }
    }

    private static String value(List<String> arguments, String option) {
        return arguments.stream()
                .filter(argument -> argument.startsWith(option))
                .map(argument -> argument.substring(option.length()))
                .findFirst()
                .orElse("");
    }

    private static List<String> gate(Properties ports, Path work, List<String> arguments) throws IOException {
        List<String> gate = new ArrayList<>(List.of(
                "--url=http://127.0.0.1:" + ports.getProperty("rpc.port"),
                "--actuator=http://127.0.0.1:" + ports.getProperty("http.port") + "/actuator",
                "--service=" + ScheduleService.class.getName(),
                "--method=schedule",
                "--arguments=@" + requests(work)));
        arguments.stream()
                .filter(argument ->
                        !argument.startsWith(JAR) && !argument.startsWith(WORK) && !argument.startsWith(PROVIDER))
                .forEach(gate::add);
        return gate;
    }

    private static Path requests(Path work) throws IOException {
        List<String> requests = new ArrayList<>();
        for (String skill : SKILLS) {
            for (String tenant : TENANTS) {
                requests.add(
                        "{\"requestId\":\"{run}-{number}\",\"tenant\":\"" + tenant + "\",\"skill\":\"" + skill + "\"}");
            }
        }
        return Files.write(work.resolve("requests"), requests);
    }
}
