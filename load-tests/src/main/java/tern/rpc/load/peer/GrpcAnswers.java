package tern.rpc.load.peer;

import io.grpc.stub.StreamObserver;
import tern.rpc.load.peer.proto.BenchmarkGrpc;
import tern.rpc.load.peer.proto.Email;
import tern.rpc.load.peer.proto.Flag;
import tern.rpc.load.peer.proto.PageNumber;
import tern.rpc.load.peer.proto.PersonMessage;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.Times;
import tern.rpc.load.peer.proto.UserId;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;

/**
 * The server side of grpc-java in the comparison. The class implements the service that gRPC generates from the
 * {@code .proto} file.
 */
final class GrpcAnswers extends BenchmarkGrpc.BenchmarkImplBase {

    private final ProtobufBenchmark answers;

    GrpcAnswers(ProtobufBenchmark answers) {
        this.answers = answers;
    }

    private static <T> void answer(T message, StreamObserver<T> caller) {
        caller.onNext(message);
        caller.onCompleted();
    }

    @Override
    public void existUser(Email email, StreamObserver<Flag> caller) {
        answer(answers.existUser(email), caller);
    }

    @Override
    public void createUser(UserMessage user, StreamObserver<Flag> caller) {
        answer(answers.createUser(user), caller);
    }

    @Override
    public void getUser(UserId id, StreamObserver<UserMessage> caller) {
        answer(answers.getUser(id), caller);
    }

    @Override
    public void listUser(PageNumber pageNo, StreamObserver<UserPage> caller) {
        answer(answers.listUser(pageNo), caller);
    }

    @Override
    public void echoText(Text text, StreamObserver<Text> caller) {
        answer(answers.echoText(text), caller);
    }

    @Override
    public void echoPerson(PersonMessage person, StreamObserver<PersonMessage> caller) {
        answer(answers.echoPerson(person), caller);
    }

    @Override
    public void build(Times times, StreamObserver<Text> caller) {
        answer(answers.build(times), caller);
    }
}
