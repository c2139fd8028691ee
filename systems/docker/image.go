package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// ProgramVariable names, in the environment, the file of this program for the
// engine's containers, where the running one does not fit: it is that of another
// operating system, or needs shared libraries.
const ProgramVariable = "STALEMATE_CONTAINER_PROGRAM"

// programPath is where an image holds this program.
const programPath = "/stalemate"

// Image makes sure that the engine has an image: what is not there is pulled.
func (e *Engine) Image(ctx context.Context, ref string) error {
	if has, err := e.HasImage(ctx, ref); has || err != nil {
		return err
	}
	pull, err := e.api.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err == nil {
		err = pull.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("the engine does not have the image %s, and pulling it failed: %w", ref, err)
	}
	return nil
}

// HasImage says whether the engine has an image, without pulling it.
func (e *Engine) HasImage(ctx context.Context, ref string) (bool, error) {
	_, err := e.api.ImageInspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// FirstImage gives the local image if the engine has it, else the other, without
// pulling it.
func (e *Engine) FirstImage(ctx context.Context, local, other string) (string, error) {
	has, err := e.HasImage(ctx, local)
	if err != nil || !has {
		return other, err
	}
	return local, nil
}

// OwnImage makes sure that the engine has an image that holds this program and
// nothing else, and gives its name, which tells builds apart.
func (e *Engine) OwnImage(ctx context.Context) (string, error) {
	program, err := e.ownProgram()
	if err != nil {
		return "", err
	}
	ref := fmt.Sprintf("stalemate:%.12x", sha256.Sum256(program))
	if has, err := e.HasImage(ctx, ref); has || err != nil {
		return ref, err
	}
	archive, err := pack([]File{{Path: programPath, Mode: 0o755, Data: program}})
	if err != nil {
		return "", err
	}
	result, err := e.api.ImageImport(ctx, client.ImageImportSource{Source: bytes.NewReader(archive), SourceName: "-"}, ref,
		client.ImageImportOptions{Changes: []string{
			fmt.Sprintf("ENTRYPOINT [%q]", programPath), fmt.Sprintf("LABEL %s=own", imageLabel),
		}})
	if err != nil {
		return "", fmt.Errorf("importing this program as an image: %w", err)
	}
	_, err = io.Copy(io.Discard, result)
	if err = errors.Join(err, result.Close()); err != nil {
		return "", fmt.Errorf("importing this program as an image: %w", err)
	}
	if has, err := e.HasImage(ctx, ref); err != nil || !has {
		return "", fmt.Errorf("the engine took this program as an image, and does not have it: %w", err)
	}
	return ref, nil
}

// ownProgram reads this program for the engine's containers, which hold nothing
// that it could need.
func (e *Engine) ownProgram() ([]byte, error) {
	path := os.Getenv(ProgramVariable)
	if path == "" {
		if runtime.GOOS != "linux" {
			return nil, fmt.Errorf("containers need this program built for linux: GOOS=linux GOARCH=%s CGO_ENABLED=0 go build, and %s set to the file", e.arch, ProgramVariable)
		}
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("this program, for the containers: %w", err)
	}
	if err := fits(program, e.arch); err != nil {
		return nil, fmt.Errorf("%s does not run in a container that holds nothing else: %w; build it with GOOS=linux GOARCH=%s CGO_ENABLED=0, and set %s to the file",
			path, err, e.arch, ProgramVariable)
	}
	return program, nil
}

// fits says why a program needs more than a kernel of that architecture.
func fits(program []byte, arch string) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("it is no program of linux: %w", err)
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if want, known := machines[arch]; known && f.Machine != want {
		return fmt.Errorf("it is for %v, the engine for %s", f.Machine, arch)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it needs shared libraries")
		}
	}
	return nil
}

// File is a file to put into a container or an image, by its absolute path there.
type File struct {
	Path string
	Mode int64 // 0 is 0644
	Data []byte
}

// pack gives files as a tar archive, with the folders that they lie in.
func pack(files []File) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		mode := f.Mode
		if mode == 0 {
			mode = 0o644
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path[1:], Mode: mode, Size: int64(len(f.Data))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
